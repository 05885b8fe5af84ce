"""Sixteen rows of sixteen float32 numbers turned over, within a Numba kernel.

Kernels whose lanes are sixteen instances keep a number of all of them side by side; files, engines and people
have all numbers of one instance together. This is the way from one to the other: four rounds of shuffles in
registers, no memory in between.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ecorche.base.lanes import WIDTH, Lanes, _is_rows, _shuffle


@intrinsic  # type: ignore[untyped-decorator]
def transpose(
    typing_context: Any, source: Any, at: Any, step: Any, out: Any, to: Any, stride: Any, count: Any
) -> Any:
    """Turn sixteen rows over: number k of row i becomes number i of row k, and the first rows are written.

    Row i of the source begins at number ``at + i · step`` of a C-contiguous float32 array, row k of the
    result at number ``to + k · stride`` of another; ``count`` of them are written. No index is checked.
    """
    if not (_is_rows(source, types.float32) and _is_rows(out, types.float32)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def pointer(array: Any, kind: Any, first: Any, apart: Any, row: int) -> Any:
            base = context.make_array(kind)(context, builder, array).data
            place = builder.add(first, builder.mul(apart, ir.Constant(apart.type, row)))
            return builder.bitcast(builder.gep(base, [place]), Lanes.vector.as_pointer())

        rows = []
        for row in range(WIDTH):
            loaded = builder.load(pointer(args[0], signature.args[0], args[1], args[2], row))
            loaded.align = 4
            rows.append(loaded)
        for half in (8, 4, 2, 1):
            turned = list(rows)
            low = [lane if not lane & half else WIDTH + (lane ^ half) for lane in range(WIDTH)]
            high = [lane | half if not lane & half else WIDTH + lane for lane in range(WIDTH)]
            for row in range(WIDTH):
                if not row & half:
                    turned[row] = _shuffle(builder, rows[row], rows[row + half], low)
                    turned[row + half] = _shuffle(builder, rows[row], rows[row + half], high)
            rows = turned
        for row in range(WIDTH):
            place = pointer(args[3], signature.args[3], args[4], args[5], row)
            with builder.if_then(
                builder.icmp_signed("<", ir.Constant(args[6].type, row), args[6]), likely=True
            ):
                builder.store(rows[row], place).align = 4
        return context.get_dummy_value()

    six = types.intp, types.intp, out, types.intp, types.intp, types.intp
    return types.void(source, *six), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_run(typing_context: Any, source: Any, at: Any, out: Any, to: Any, count: Any) -> Any:
    """Copy ``count`` numbers from number ``at`` of a C-contiguous float32 array to ``to`` of another.

    The C library's own copy: it begins with what brings it to a whole line of the cache, which for rows that
    begin anywhere is twice as fast as sixteen numbers at a time.
    """
    if not (_is_rows(source, types.float32) and _is_rows(out, types.float32)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        place = builder.gep(context.make_array(signature.args[2])(context, builder, args[2]).data, [args[3]])
        cgutils.raw_memcpy(builder, place, begin, args[4], 4)
        return context.get_dummy_value()

    return types.void(source, types.intp, out, types.intp, types.intp), generate
