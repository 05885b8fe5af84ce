"""What goes wrong is told in one sentence: in an operator's report, never as a traceback."""

from collections.abc import Callable
from typing import Any

from .wording import in_blender_words


class SceneError(Exception):
    """Something in the scene cannot be used as it is: what, and how to mend it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}. {remedy}")


INSTALL = (
    "Install it into Blender's Python, or build the extension with its wheels: make blender-wheels. The"
    " preferences of the extension say how"
)


def package() -> Any:
    """The ecorche package; a message where it or what it needs is not installed."""
    try:
        import numba  # noqa: F401  what our package needs and Blender does not bring
        import pydantic  # noqa: F401
        import scipy  # noqa: F401

        import ecorche
    except ImportError as error:
        raise SceneError(
            f"the Python package {error.name!r} is not installed in this Blender", INSTALL
        ) from None
    return ecorche


def told(operator: Any, work: Callable[[], list[str]]) -> set[str]:
    """Run an operator's work: what it has to say is reported, and so is why it cannot be done."""
    try:
        ecorche = package()
    except SceneError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    try:
        lines = work()
    except (SceneError, ecorche.EcorcheError) as error:
        operator.report({"ERROR"}, in_blender_words(str(error)))
        return {"CANCELLED"}
    for line in lines:
        operator.report({"INFO"}, in_blender_words(line))
    return {"FINISHED"}
