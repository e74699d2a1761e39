"""The version of this package: that of the `sprag` binary in it."""

VERSION = "0.1.0"


def is_compatible(other: str) -> bool:
    """Whether a guard of version `other` speaks as this package does."""
    return _line(other) == _line(VERSION)


def _line(version: str) -> tuple[str, ...]:
    """What must be equal: the major version; before 1.0 the minor one as well."""
    parts = version.strip().split("-")[0].split(".")
    return tuple(parts[:2]) if parts[0] == "0" else tuple(parts[:1])
