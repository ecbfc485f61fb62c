"""Settings of a method to and from plain values: for files, for the command line, for a saved result."""

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from typing import Any

from ..errors import SettingsError

__all__ = ["settings_from_values", "settings_to_values", "with_overrides"]


def settings_to_values(settings: Any) -> dict[str, Any]:
    """A settings object as nested plain values (JSON-able)."""
    return dataclasses.asdict(settings)


def settings_from_values(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """The inverse of `settings_to_values`; fields that are absent keep their default.

    Raises
    ------
    SettingsError
        If a name is unknown or a value has the wrong type.
    """
    return _replace(kind(), values, "")


def with_overrides(settings: Any, overrides: Mapping[str, Any]) -> Any:
    """A copy of `settings` with some fields changed; ``matching.lambda_`` reaches into a nested one."""
    nested: dict[str, Any] = {}
    for key, value in overrides.items():
        *path, last = key.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return _replace(settings, nested, "")


def _replace(settings: Any, values: Mapping[str, Any], prefix: str) -> Any:
    hints = typing.get_type_hints(type(settings))
    changes = {}
    for name, value in values.items():
        known = _field_name(settings, name)
        if known is None:
            names = [prefix + field.name for field in dataclasses.fields(settings)]
            close = difflib.get_close_matches(prefix + name, names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise SettingsError(
                f"there is no setting {prefix + name!r}; the settings are {', '.join(names)}.{hint}"
            )
        present = getattr(settings, known)
        if dataclasses.is_dataclass(present) and isinstance(value, Mapping):
            changes[known] = _replace(present, value, f"{prefix}{known}.")
        else:
            changes[known] = _converted(value, hints[known], prefix + known)
    try:
        return dataclasses.replace(settings, **changes)
    except ValueError as error:
        raise SettingsError(str(error)) from error


def _field_name(settings: Any, name: str) -> str | None:
    """The field called `name`, with or without the underscore that avoids a Python keyword."""
    names = {field.name for field in dataclasses.fields(settings)}
    plain = name.replace("-", "_")
    return next((candidate for candidate in (plain, f"{plain}_") if candidate in names), None)


def _converted(value: Any, hint: Any, name: str) -> Any:
    """A value, maybe text from the command line, as the type that the field declares."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(hint)
        if type(None) in options and (value is None or value in ("none", "None")):
            return None
        for option in options:
            if option is type(None):
                continue
            try:
                return _converted(value, option, name)
            except SettingsError:
                continue
        raise SettingsError(f"setting {name!r} cannot be {value!r}.")
    if origin is typing.Literal:
        choices = typing.get_args(hint)
        if value in choices:
            return value
        listed = ", ".join(repr(choice) for choice in choices)
        raise SettingsError(f"setting {name!r} is one of {listed}; got {value!r}.")
    if origin is tuple:
        parts = value.split(",") if isinstance(value, str) else list(value)
        inner = typing.get_args(hint)[0]
        return tuple(_converted(part, inner, name) for part in parts)
    if hint is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if isinstance(value, bool):
            return value
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise SettingsError(f"setting {name!r} is true or false; got {value!r}.")
    if hint in (int, float, str):
        try:
            number = hint(value)
        except (TypeError, ValueError):
            kinds = {int: "a whole number", float: "a number", str: "text"}
            raise SettingsError(f"setting {name!r} is {kinds[hint]}; got {value!r}.") from None
        if hint is int and isinstance(value, float) and value != number:
            raise SettingsError(f"setting {name!r} is a whole number; got {value!r}.")
        return number
    return value
