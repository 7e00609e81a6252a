"""Labelled positions from self-play, and the dataset that keeps them."""

from motif.sampling.dataset import Samples, joined, read_column, read_dataset, read_parts
from motif.sampling.manifest import dataset_fingerprint, read_manifest_positions
from motif.sampling.sample import SampleResult, sample
from motif.sampling.settings import SamplePlan, SampleSettings

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
