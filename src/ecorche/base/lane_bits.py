"""From lanes back to single numbers, inside a Numba kernel: which lanes pass a test.

A search asks sixteen boxes or triangles at once and goes on with the few that answer: their lanes come as the
bits of one integer, which `lowest_bit` takes one after another. See `lanes`.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ecorche.base.lanes import LanesType

_INT64 = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def bits_at_most(typing_context: Any, a: Any, b: Any) -> Any:
    """An integer whose bit k is set where ``a <= b`` in lane k; not where one of them is not a number."""
    if not (isinstance(a, LanesType) and a is b):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        passed = builder.fcmp_ordered("<=", args[0], args[1])
        return builder.zext(builder.bitcast(passed, ir.IntType(a.width)), _INT64)

    return types.int64(a, b), generate


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing_context: Any, a: Any, b: Any) -> Any:
    """The smaller number in each lane; where one is not a number, the other."""
    if not (isinstance(a, LanesType) and a is b):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = ir.FunctionType(a.vector, [a.vector] * 2)
        name = f"llvm.minnum.v{a.width}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return a(a, b), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """The number of the lowest bit that is set; at least one is."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        flag = ir.IntType(1)
        function = ir.FunctionType(_INT64, [_INT64, flag])
        called = cgutils.get_or_insert_function(builder.module, function, "llvm.cttz.i64")
        return builder.call(called, [args[0], ir.Constant(flag, 1)])

    return types.int64(types.int64), generate
