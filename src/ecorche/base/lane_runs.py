"""Eight neighbouring float32 numbers of a flat array as lanes, from any place in it, inside a Numba kernel.

`lanes` reads whole rows; on a grid a value is also wanted beside its neighbour, one place further on.
"""

# ruff: noqa: ARG001  Numba fixes the arguments of intrinsics and their generators

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from ecorche.base.lanes import EightLanes


def _is_flat(array: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == types.float32 and array.layout == "C"


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, start: Any) -> Any:
    base = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(base, [start]), EightLanes.vector.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def run_from(typing_context: Any, flat: Any, start: Any) -> Any:
    """The eight numbers of a C-contiguous float32 array (n,) from number ``start`` on."""
    if not (_is_flat(flat) and isinstance(start, types.Integer)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(_pointer(context, builder, signature.args[0], args[0], args[1]))
        value.align = 4
        return value

    return EightLanes(flat, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_run(typing_context: Any, flat: Any, start: Any, lanes: Any) -> Any:
    """Write eight lanes to a C-contiguous float32 array (n,) from number ``start`` on."""
    if not (_is_flat(flat) and isinstance(start, types.Integer) and lanes is EightLanes):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], pointer).align = 4
        return context.get_dummy_value()

    return types.void(flat, types.intp, lanes), generate
