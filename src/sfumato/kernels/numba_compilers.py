"""What numba is told in order to compile kernels sooner: it compiles nothing twice, and nothing that is never run.

Most of the first use of sfumato is compilation. Nothing here changes what a kernel computes.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.registry import CPUDispatcher

from sfumato.kernels.array_records import RecordType


class _KernelFlags(Flags):  # type: ignore[misc]
    """The options of a kernel. Two are equal if the functions of numba that such kernels call can be the same.

    numba compiles `min`, `np.empty` and the like once for each set of options, and compares the options at every operator.
    Of the options that kernels differ in, only the counting of references and the model of errors matter to those functions.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((self.nrt, self.error_model))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _KernelFlags):
            return NotImplemented
        return (self.nrt, self.error_model) == (other.nrt, other.error_model)


class _SharingCompiler(Compiler):  # type: ignore[misc]
    """Compiles kernels and their parts; see `_KernelFlags`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a Python function."""
        self.state.flags = _KernelFlags(self.state.flags)
        return super().compile_extra(func)


class KernelCompiler(_SharingCompiler):
    """Compiles kernels. One that receives a record of arrays returns no array: it could be one that the record owns.

    Private functions may, because only kernels call them, while the caller holds the record.
    """

    def compile_extra(self, func: Any) -> Any:
        """Compile a Python function."""
        result = super().compile_extra(func)
        has_record = any(isinstance(kind, RecordType) for kind in self.state.args)
        if has_record and not func.__name__.startswith("_") and _holds_array(self.state.return_type):
            raise TypeError(
                f"{func.__qualname__} receives a record of arrays and returns {self.state.return_type}: "
                "fill an array that the caller passes"
            )
        return result


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or (isinstance(kind, numba.types.BaseTuple) and any(map(_holds_array, kind)))


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part of kernels. The kernel that includes it is optimized and translated to machine code as a whole.

    So neither is done for the part by itself: that took a third of the time.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _PartCompiler(_SharingCompiler):
    """Compiles parts of kernels; see `_PartLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a Python function, up to the code that kernels include."""
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_compile = True
        return super().compile_extra(func)


class KernelPart(CPUDispatcher):  # type: ignore[misc]
    """A function that only kernels call. Called from Python, it is the plain Python function.

    Nothing is compiled for calls from Python, which would have to unpack large tuples of arrays, and constant arguments get
    no version of their own.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_PartCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the function for a call with arguments of these types, the same for every constant."""
        return super().get_call_template(tuple(map(numba.types.unliteral, args)), kws)

    def add_overload(self, cres: Any) -> None:
        """Let kernels call a compiled version."""
        # kernels find it by its entry point from Python; it has none, and any object serves
        identity = object()
        self.targetctx.insert_user_function(identity, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=identity)

    def __call__(self, *args: Any) -> Any:
        """Run the Python function."""
        return self.py_func(*args)
