"""Labelled positions from self-play, and the dataset that keeps them."""

from motif.sampling.dataset import (
    Samples,
    dataset_fingerprint,
    read_dataset,
    read_manifest_positions,
    read_parts,
)
from motif.sampling.sample import SampleResult, SampleSettings, sample

__all__ = [
    "SampleResult",
    "SampleSettings",
    "Samples",
    "dataset_fingerprint",
    "read_dataset",
    "read_manifest_positions",
    "read_parts",
    "sample",
]
