"""Labelled positions from self-play, and the dataset that keeps them."""

from motif.sampling.dataset import (
    Samples,
    dataset_fingerprint,
    joined,
    read_column,
    read_dataset,
    read_manifest_positions,
    read_parts,
)
from motif.sampling.sample import SamplePlan, SampleResult, SampleSettings, sample

__all__ = [
    "SamplePlan",
    "SampleResult",
    "SampleSettings",
    "Samples",
    "dataset_fingerprint",
    "joined",
    "read_column",
    "read_dataset",
    "read_manifest_positions",
    "read_parts",
    "sample",
]
