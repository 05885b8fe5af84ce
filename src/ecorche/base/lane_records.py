"""Records of sixteen float32 numbers, a cache line each, read and written sixteen at a time as lanes.

`lanes` gathers points of three numbers one by one. Where a kernel wants more of each neighbour it is faster
to load records whole and to turn them round in registers: component k of sixteen records becomes one value.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ecorche.base.lanes import WIDTH, Lanes, _index, _is_rows, _row_pointer, _shuffle

_HALF = 8
_HALF_RECORD = ir.VectorType(ir.FloatType(), _HALF)


def _turned(builder: Any, rows: Sequence[Any]) -> list[Any]:
    """Eight values of sixteen lanes whose halves, 8 × 8 each, are transposed."""
    result = list(rows)
    for stride in (4, 2, 1):
        stage = list(result)
        for k in range(_HALF):
            if k & stride:
                continue
            low, high = list[int](), list[int]()
            for half in (0, _HALF):
                for j in range(_HALF):
                    swapped = j & stride
                    low.append(WIDTH + half + (j ^ stride) if swapped else half + j)
                    high.append(WIDTH + half + j if swapped else half + (j | stride))
            stage[k] = _shuffle(builder, result[k], result[k + stride], low)
            stage[k + stride] = _shuffle(builder, result[k], result[k + stride], high)
        result = stage
    return result


@intrinsic  # type: ignore[untyped-decorator]
def gather_records(typing_context: Any, records: Any, numbers: Any, row: Any) -> Any:
    """The first nine components of sixteen records, those that row ``row`` of ``numbers`` (..., 16) names.

    ``records`` is C-contiguous float32 (n, 16), ``numbers`` C-contiguous int32.
    """
    if not (_is_rows(records, types.float32) and _is_rows(numbers, types.int32)):
        return None
    nine = types.containers.UniTuple(Lanes, 9)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        named = _row_pointer(context, builder, signature.args[1], args[1], args[2], WIDTH)
        halves, ninth = [], ir.Constant(Lanes.vector, ir.Undefined)
        for lane in range(WIDTH):
            number = builder.sext(builder.load(builder.gep(named, [_index(lane)])), ir.IntType(64))
            start = builder.gep(base, [builder.mul(number, _index(WIDTH))])
            half = builder.load(builder.bitcast(start, _HALF_RECORD.as_pointer()))
            half.align = 4
            halves.append(half)
            value = builder.load(builder.gep(start, [_index(_HALF)]))
            ninth = builder.insert_element(ninth, value, ir.Constant(ir.IntType(32), lane))
        both = [_shuffle(builder, halves[k], halves[k + _HALF], range(WIDTH)) for k in range(_HALF)]
        return context.make_tuple(builder, nine, [*_turned(builder, both), ninth])

    return nine(records, numbers, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_records(typing_context: Any, records: Any, first: Any, half: Any, components: Any) -> Any:
    """Write eight components of the sixteen records from number ``first`` on.

    ``half`` is 0 for the components 0 to 7 and 1 for 8 to 15; ``components`` is a tuple of eight lanes.
    """
    eight = types.containers.UniTuple(Lanes, _HALF)
    if not _is_rows(records, types.float32) or components != eight:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        rows = _turned(builder, [builder.extract_value(args[3], k) for k in range(_HALF)])
        start = builder.add(builder.mul(args[1], _index(WIDTH)), builder.mul(args[2], _index(_HALF)))
        for lane in range(WIDTH):
            side = lane // _HALF
            value = _shuffle(
                builder, rows[lane % _HALF], rows[lane % _HALF], range(_HALF * side, _HALF * side + _HALF)
            )
            at = builder.gep(base, [builder.add(start, _index(WIDTH * lane))])
            builder.store(value, builder.bitcast(at, _HALF_RECORD.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(records, types.intp, types.intp, eight), generate
