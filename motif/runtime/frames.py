"""Tables as data frames, of whichever library is installed."""

from typing import Any

from motif.runtime.errors import SettingError


def frame(columns: dict[str, Any]) -> Any:
    """A DataFrame of pandas, else of polars; raises `SettingError` where neither is installed."""
    try:
        from pandas import DataFrame
    except ImportError:
        try:
            from polars import DataFrame
        except ImportError:
            raise SettingError("a frame needs pandas or polars: pip install pandas") from None
    return DataFrame(columns)
