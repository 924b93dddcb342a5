"""Named tuples of arrays that kernels receive by reference.

numba passes a tuple by value: every function unpacks every part of every array, and most of the code that it compiles does
only that. Here a kernel receives the address of a description of all arrays, and reads what it uses.

The caller owns the arrays: it holds the record while the kernel runs, and the description is freed after the call. So a
kernel may not return an array of a record, which `numba_compilers` checks. This uses internals of numba. A version that
changes them is an error when this module is imported or a kernel is compiled, never another result: see `_field`.
"""

from __future__ import annotations

import struct
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, models, register_model, unbox

Record = TypeVar("Record", bound=type)

_WORD = ir.IntType(64)
"""Every part of a description: an address, a number of bytes or items, or a scalar."""

_BYTES = 8
"""The size of a word, to which the content of a bytes object is aligned."""

_ARRAY_PARTS = {"meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"}
"""What numba keeps of an array."""


class RecordType(types.Type):
    """A named tuple of arrays and numbers, by reference. Kernels may read its fields, and nothing else."""

    def __init__(self, title: str, fields: tuple[str, ...], content: tuple[Any, ...]) -> None:
        self.title, self.fields, self.content = title, fields, content
        inner = ", ".join(f"{field}: {kind}" for field, kind in zip(fields, content, strict=True))
        super().__init__(f"{title}({inner})")

    def place(self, field: str) -> tuple[int, Any]:
        """Return the word at which the description of a field begins, and its type."""
        at = 0
        for name, kind in zip(self.fields, self.content, strict=True):
            if name == field:
                return at, kind
            at += _words(kind)
        raise KeyError(field)


def _words(kind: Any) -> int:
    """Return the number of words that describe an array or a number: see `described`."""
    return 2 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    """The address of the words that `described` returns."""

    def __init__(self, manager: Any, kind: RecordType) -> None:
        super().__init__(manager, kind, _description(kind).as_pointer())


def _description(kind: RecordType) -> Any:
    return ir.ArrayType(_WORD, sum(map(_words, kind.content)))


def by_reference(record: Record) -> Record:
    """Let kernels receive instances of a class of named tuples by reference."""

    @typeof_impl.register(record)
    def _type_of(value: Any, context: Any) -> RecordType:
        content = tuple(typeof_impl(part, context) for part in value)
        for field, kind in zip(value._fields, content, strict=True):
            if not isinstance(kind, types.Array) and kind not in (types.int64, types.float64):
                raise TypeError(f"{record.__name__}.{field} is neither an array nor a number of 64 bits: {kind}")
        return RecordType(record.__name__, value._fields, content)

    return record


def described(record: tuple[Any, ...]) -> bytes:
    """Return a description of a record: of each array the items, the address, the shape and the strides; each number."""
    words: list[int] = []
    for part in record:
        if isinstance(part, np.ndarray):
            address = part.__array_interface__["data"][0]
            words += (part.size, address, *part.shape, *part.strides)
        else:
            words += struct.unpack("=q", struct.pack("=d" if isinstance(part, float) else "=q", part))
    return struct.pack(f"={len(words)}q", *words)


@unbox(RecordType)
def _unboxed(kind: RecordType, record: Any, c: Any) -> Any:
    describe = c.pyapi.unserialize(c.pyapi.serialize_object(described))
    words = c.pyapi.call_function_objargs(describe, (record,))
    c.pyapi.decref(describe)
    pointer = _description(kind).as_pointer()
    result = cgutils.alloca_once_value(c.builder, ir.Constant(pointer, None))
    failed = cgutils.is_null(c.builder, words)
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.builder.bitcast(c.pyapi.bytes_as_string(words), pointer), result)

    def cleanup() -> None:
        c.pyapi.decref(words)

    return NativeValue(c.builder.load(result), is_error=failed, cleanup=cleanup)


@infer_getattr
class _RecordAttribute(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, record: RecordType, field: str) -> Any:
        return record.content[record.fields.index(field)] if field in record.fields else None


@lower_getattr_generic(RecordType)
def _field(context: Any, builder: Any, kind: RecordType, address: Any, field: str) -> Any:
    at, content = kind.place(field)
    _mark_descriptions(builder.function)

    def word(offset: int, of: Any) -> Any:
        pointer = builder.gep(address, [ir.Constant(_WORD, 0), ir.Constant(_WORD, at + offset)], inbounds=True)
        loaded = builder.load(builder.bitcast(pointer, of.as_pointer()))
        # nothing writes to a description while a kernel runs
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(content, types.Array):
        return word(0, context.get_value_type(content))
    parts = set(context.data_model_manager[content]._fields)
    if parts != _ARRAY_PARTS:  # a part that is not set below would be arbitrary
        raise NotImplementedError(
            f"numba {numba.__version__} keeps {sorted(parts)} of an array, in place of {sorted(_ARRAY_PARTS)}: "
            "install the version of numba in constraints.txt"
        )
    array = context.make_array(content)(context, builder)
    array.meminfo = ir.Constant(array.meminfo.type, None)  # the caller owns the array
    array.parent = ir.Constant(array.parent.type, None)
    array.nitems = word(0, _WORD)
    array.itemsize = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(content.dtype)))
    array.data = word(1, array.data.type)
    array.shape = cgutils.pack_array(builder, [word(2 + axis, _WORD) for axis in range(content.ndim)])
    array.strides = cgutils.pack_array(builder, [word(2 + content.ndim + axis, _WORD) for axis in range(content.ndim)])
    return array._getvalue()


def _mark_descriptions(function: Any) -> None:
    """Tell LLVM that what a function receives can be read at any time, so that it is read before loops."""
    for argument in function.args:
        content = getattr(argument.type, "pointee", None)
        if argument.name.startswith("arg.") and isinstance(content, ir.ArrayType) and content.element == _WORD:
            argument.attributes.dereferenceable = content.count * _BYTES
            argument.attributes.align = _BYTES
            argument.add_attribute("noalias")
            argument.add_attribute("nonnull")
