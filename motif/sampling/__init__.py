"""Labelled positions from self-play, and their dataset."""

from motif.sampling.dataset import dataset_fingerprint, read_column, read_manifest_positions
from motif.sampling.sample import SamplePlan, SampleResult, SampleSettings, sample
from motif.sampling.samples import Dataset, joined, read_dataset, read_parts

__all__ = [
    "Dataset",
    "SamplePlan",
    "SampleResult",
    "SampleSettings",
    "dataset_fingerprint",
    "joined",
    "read_column",
    "read_dataset",
    "read_manifest_positions",
    "read_parts",
    "sample",
]
