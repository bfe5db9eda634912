"""Asking for memory before it is needed, in compiled loops that take rows in an order of chance.

A processor guesses what is read next where addresses rise; where they jump, it waits for memory, which may be most of
the time of such a loop. It can be told, by an instruction that changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prefetch(array: Any, k: Any) -> None:
    """Bring ``array[k]``, and what shares its cache line, near the processor; in loops that are compiled."""


def _ask(_: Any, array: Any, k: Any) -> Any:
    """The types and the code of what takes the place of ``prefetch`` there."""
    from numba.core import types

    return types.void(array, k), _instruction


def _instruction(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    from llvmlite import ir
    from numba.core import cgutils

    kind, flag = signature.args[0], ir.IntType(32)
    view = context.make_array(kind)(context, builder, arguments[0])
    place = cgutils.get_item_pointer(context, builder, kind, view, [arguments[1]], wraparound=False)
    instruction = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag])
    function = cgutils.get_or_insert_function(builder.module, instruction, "llvm.prefetch.p0i8")
    to_read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
    builder.call(function, [builder.bitcast(place, cgutils.voidptr_t), to_read, keep, data])


def _compiled(array: Any, k: Any) -> Callable[[Any, Any], None]:  # noqa: ARG001 - numba looks at the names
    def ask(array: Any, k: Any) -> None:
        asked(array, k)

    return ask


try:
    from numba.extending import intrinsic, overload
except ImportError:
    pass
else:
    asked = intrinsic(_ask)
    overload(prefetch)(_compiled)
