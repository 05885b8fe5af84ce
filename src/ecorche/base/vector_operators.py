"""``+ - * /`` and unary minus for values that are several numbers, in compiled code.

Told to Numba by type and by instruction: as Python functions they would be compiled one by one in every
process that compiles anything.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of what generates code

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from numba.core import types
from numba.extending import lower_builtin, type_callable

_INSTRUCTIONS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}


def give_operators(
    kind: type[types.Type], single: types.Type, spread: Callable[..., Any], flags: Sequence[str] = ()
) -> None:
    """Let kernels write ``a + b`` between two values of one type, or one and a single number.

    Args:
        kind: The class of the values' types, each with its LLVM type as ``vector``.
        single: Numba's type of the single number.
        spread: From builder, number and type to code that has the number in all places.
        flags: What LLVM may do with the instructions.
    """
    for symbol, instruction in _INSTRUCTIONS.items():
        _give(symbol, instruction, kind, single, spread, flags)

    @type_callable(operator.neg)  # type: ignore[untyped-decorator]
    def type_of_negation(context: Any) -> Any:
        return lambda a: a if isinstance(a, kind) else None

    @lower_builtin(operator.neg, kind)  # type: ignore[untyped-decorator]
    def negate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fneg(args[0])


def _give(
    symbol: Callable[..., Any],
    instruction: str,
    kind: type[types.Type],
    single: types.Type,
    spread: Callable[..., Any],
    flags: Sequence[str],
) -> None:
    @type_callable(symbol)  # type: ignore[untyped-decorator]
    def type_of_result(context: Any) -> Any:
        def typed(a: Any, b: Any) -> Any:
            if isinstance(a, kind) and (a is b or b == single):
                return a
            return b if isinstance(b, kind) and a == single else None

        return typed

    @lower_builtin(symbol, kind, kind)  # type: ignore[untyped-decorator]
    @lower_builtin(symbol, kind, single)  # type: ignore[untyped-decorator]
    @lower_builtin(symbol, single, kind)  # type: ignore[untyped-decorator]
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = signature.return_type
        a, b = (
            value if isinstance(of, kind) else spread(builder, value, result)
            for value, of in zip(args, signature.args, strict=True)
        )
        return getattr(builder, instruction)(a, b, flags=flags)
