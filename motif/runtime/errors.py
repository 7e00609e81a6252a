"""Every failure that motif itself reports.

A message is one line that names what is wrong and where.  The command line prints it and exits
with code 2; a library caller catches `MotifError` or the subclass that it can handle.
"""


class MotifError(Exception):
    """Root of all errors that motif raises on purpose."""


class PositionError(MotifError):
    """A board that cannot occur, or an identifier that does not encode one."""


class PlayError(MotifError):
    """A roll that no dice show, a play that is not legal, or notation that cannot be read."""


class WeightFileError(MotifError):
    """A weight file that cannot be read, or that does not fit this program's parameters."""


class ParameterError(MotifError):
    """A file of parameters of one's own that cannot be found, read, compiled or measured."""


class PlayerError(MotifError):
    """A player's name that means nothing here, or a player asked for what it cannot do."""


class DatasetError(MotifError):
    """A dataset that is missing, empty, damaged, or made with other settings."""


class FitError(MotifError):
    """A fit that cannot be done: no data, a non-finite number, options that exclude each other."""


class FileError(MotifError):
    """A file or folder that cannot be written, or in which another process is at work."""


class RecordError(MotifError):
    """A record of games that cannot be read, or actions that cannot follow one another."""


class BenchmarkError(MotifError):
    """A benchmark file that cannot be read."""


class SettingError(MotifError):
    """An option outside its range, or options that exclude each other."""


class ClusterError(MotifError):
    """A cluster that cannot be reached, has no workers, or whose workers would give other results."""
