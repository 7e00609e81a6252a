"""Kernels that call each other through cells, so that each is compiled once and only when it is called.

numba copies the callees of a function into it and optimises them again for every caller.  Here a kernel
includes only its inline building blocks, and calls other kernels through cells.

A cell is two words of memory with a name: the address of a kernel's machine code, initially 0, and a number
by which `_resolve` finds the kernel, has it loaded or compiled, and fills the cell.  Machine code refers to
cells by name, so it can be cached in a file.
"""

import ctypes
import hashlib
import traceback
import uuid
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from llvmlite import binding, ir
from numba import typeof
from numba.core import cgutils, compiler, event, sigutils, types, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from motif.compiler.garbage import without_collecting
from motif.compiler.kernel_cache import load_or_make
from motif.compiler.kernel_digest import VERSIONS, digest_of, module_digest, names_of, type_text

_FOR_OTHERS = {
    *("WithLift", "InlineClosureLikes", "InlineInlinables", "InlineOverloads", "LiteralUnroll"),
    *(
        "MakeFunctionToJitFunction",
        "FindLiterallyCalls",
        "LiteralPropagationSubPipelinePass",
        "NopythonRewrites",
    ),
}
"""numba's passes for with-blocks, nested functions, loops over tuples and array expressions."""


_Dispatcher: Any = CPUDispatcher
CELL = "kernel.cell."
"""Prefix of the names of cells."""
_CALL, _RESOLVE = "kernel.call.", "kernel.resolve"
_WORD = ir.IntType(64)
_DONE, _FAILED, _INTERRUPTED = 1, 0, -1

Arguments = tuple[types.Type, ...]


_cells: dict[str, tuple["Kernel", Arguments, Any]] = {}
"""Kernel, argument types and memory of each cell, by its name."""
_names: list[str] = []
"""Names of the cells by their numbers."""


def cell_of(kernel: "Kernel", arguments: Arguments) -> str:
    """Return the name of a kernel's cell, which is created on first use."""
    name = kernel.cell_name(arguments)
    if name not in _cells:
        cell = (ctypes.c_int64 * 2)(0, len(_names))
        _names.append(name)
        _cells[name] = kernel, arguments, cell
        binding.add_symbol(name, ctypes.addressof(cell))
    return name


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def _resolve(number: int) -> int:
    """Fill a cell; called by machine code."""
    try:
        kernel, arguments, cell = _cells[_names[number]]
        cell[0] = kernel.address(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException:
        traceback.print_exc()
        return _FAILED
    return _DONE


binding.add_symbol(_RESOLVE, ctypes.cast(_resolve, ctypes.c_void_p).value)


def call_through(name: str) -> Callable[..., Any]:
    """Return a function that generates a call through the cell `name`, as numba's `user_function` does."""

    def implementation(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        callee = _caller_of(context, builder.module, name, signature)
        status, result = context.call_conv.call_function(
            builder, callee, signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    implementation.libs = ()  # type: ignore[attr-defined]
    return implementation


def _caller_of(context: Any, module: Any, name: str, signature: Any) -> Any:
    """Return a module's LLVM function for calls through a cell."""
    kind = context.call_conv.get_function_type(signature.return_type, signature.args)
    function = cgutils.get_or_insert_function(module, kind, _CALL + name.removeprefix(CELL))
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    cell = cgutils.add_global_variable(module, ir.ArrayType(_WORD, 2), name)
    zero, one = ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), 1)
    place = builder.gep(cell, [zero, zero])
    is_empty = builder.icmp_unsigned("==", builder.load(place), ir.Constant(_WORD, 0))
    with cgutils.if_unlikely(builder, is_empty):
        resolve = cgutils.get_or_insert_function(module, ir.FunctionType(_WORD, [_WORD]), _RESOLVE)
        outcome = builder.call(resolve, [builder.load(builder.gep(cell, [zero, one]))])
        for failure, error in ((_INTERRUPTED, KeyboardInterrupt), (_FAILED, RuntimeError)):
            has_failed = builder.icmp_signed("==", outcome, ir.Constant(_WORD, failure))
            with cgutils.if_unlikely(builder, has_failed):
                context.call_conv.return_user_exc(builder, error, ("while a kernel was compiled",))
    address = builder.inttoptr(builder.load(place), kind.as_pointer())
    builder.ret(builder.call(address, function.args))
    return function


def prepare_kernel(kernel: "Kernel", examples: Sequence[object]) -> None:
    """See `motif.compiler.jit.compile_ahead`."""
    if examples:
        kernel.prepare(tuple(typeof(example) for example in examples))
    else:
        for callee, arguments, _ in list(_cells.values()):
            if callee is kernel:
                callee.prepare(arguments)


class Kernel(_Dispatcher):
    """A compiled function that Python and other kernels can call.

    A `block` is compiled into its callers, and separately only for calls from Python.  A kernel whose return
    type `returns` is given is compiled when it is first called, any other kernel with its first caller.
    """

    def __init__(
        self, function: Any, options: dict[str, Any], block: bool = False, returns: types.Type | None = None
    ) -> None:
        super().__init__(function, targetoptions={"nopython": True, "no_cfunc_wrapper": True, **options})
        self._block = block
        self._returns = returns
        self._called: dict[Arguments, tuple[Any, typing.Signature]] = {}
        """Key of numba's implementation and signature of calls from kernels, by argument types."""
        self._native: dict[Arguments, Any] = {}
        """Code for calls from kernels only, without the wrapper that Python needs."""

    def __reduce__(self) -> str:
        return str(self.__qualname__)

    @cached_property
    def digest(self) -> str | None:
        """Digest of all that the machine code depends on; None if it must not be cached."""
        return digest_of(self.py_func, self.targetoptions)

    def compile(self, sig: Any) -> Any:
        """Prepare a call from Python; see numba's dispatcher."""
        arguments, _ = sigutils.normalize_signature(sig)
        with global_compiler_lock:
            if tuple(arguments) not in self.overloads:
                self.add_overload(self._cached(tuple(arguments), for_python=True))
            return self.overloads[tuple(arguments)].entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call from a kernel; see numba's dispatcher."""
        python_signature, arguments = self._compiler.fold_argument_types(args, kws)
        arguments = tuple(types.unliteral(kind) for kind in arguments)
        if arguments not in self._called:
            self._called[arguments] = self._linked(arguments) if self._block else self._walled(arguments)
        name = f"call of {self.__name__}"
        template = typing.make_concrete_template(name, name, [self._called[arguments][1]])
        return template, python_signature, arguments, {}

    def get_overload(self, sig: Any) -> Any:
        """Return the key of the implementation of a call from a kernel; see numba's dispatcher."""
        arguments, _ = sigutils.normalize_signature(sig)
        return self._called[tuple(arguments)][0]

    def address(self, arguments: Arguments) -> int:
        """Return the address of the machine code for calls from kernels."""
        with global_compiler_lock:
            if (result := self.overloads.get(arguments, self._native.get(arguments))) is None:
                result = self._native[arguments] = self._cached(arguments, for_python=False)
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))

    def prepare(self, arguments: Arguments) -> None:
        """Load or compile the code for calls from kernels, unless another process is compiling it."""
        with global_compiler_lock:
            if arguments not in self.overloads and arguments not in self._native:
                result = self._cached(arguments, for_python=False, wait=False)
                if result is not None:
                    self._native[arguments] = result

    def cell_name(self, arguments: Arguments) -> str:
        """Return the name of the cell through which kernels call this one."""
        return CELL + self._key(arguments, for_python=False)

    def _linked(self, arguments: Arguments) -> tuple[Any, typing.Signature]:
        """Compile for inclusion in callers."""
        library = _BlockLibrary(self.targetctx.codegen(), self.__name__)
        library.enable_object_caching()
        result = self._compiled(arguments, library=library, no_cpython_wrapper=True, no_compile=True)
        found_by = object()
        self.targetctx.insert_user_function(found_by, result.fndesc, [result.library])
        return found_by, result.signature

    def _walled(self, arguments: Arguments) -> tuple[Any, typing.Signature]:
        """Prepare calls through a cell."""
        returns = self._returns
        if returns is None:
            self.address(arguments)
            returns = {**self._native, **self.overloads}[arguments].signature.return_type
        found_by, signature = object(), typing.signature(returns, *arguments)
        implementation = call_through(cell_of(self, arguments))
        self.targetctx._defns[found_by].append(implementation, signature.args)
        return found_by, signature

    def _key(self, arguments: Arguments, for_python: bool) -> str:
        """Return a name for the machine code for some argument types."""
        made_of = self.digest or self._unique
        kinds = [type_text(kind) for kind in arguments]
        target = self.targetctx.codegen().magic_tuple()
        facts = (made_of, kinds, str(self._returns), for_python, target, VERSIONS, module_digest(__name__))
        return f"{self.__name__}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}"

    @cached_property
    def _unique(self) -> str:
        return uuid.uuid4().hex

    def _cached(
        self, arguments: Arguments, for_python: bool, wait: bool = True
    ) -> compiler.CompileResult | None:
        """Load or compile the code; without `wait`, return None while another process compiles."""
        key = self._key(arguments, for_python)

        def make() -> tuple[compiler.CompileResult, object]:
            details = {"dispatcher": self, "args": arguments, "return_type": self._returns}
            with event.trigger_event("numba:compile", data=details), without_collecting():
                result = self._compiled(arguments, key, no_cpython_wrapper=not for_python)
            if self.digest is None or result.library.has_dynamic_globals:
                return result, None
            referred = [variable.name for variable in result.library._final_module.global_variables]
            cells = [(name, _name(_cells[name][0]), _cells[name][1]) for name in referred if name in _cells]
            return result, (cells, _without_bitcode(result._reduce(), result.library))

        return make()[0] if self.digest is None else load_or_make(key, self._rebuilt, make, wait)

    def _rebuilt(self, contents: Any) -> compiler.CompileResult | None:
        """Restore compiled code from the contents of its file.

        Returns None if the code calls other kernels than this kernel does, and may raise any error for
        other contents.
        """
        cells, reduced = contents
        reached = {_name(kernel): kernel for kernel in _reached(self)}
        for name, kernel_name, kinds in cells:
            kernel = reached.get(kernel_name)
            if kernel is None or kernel.cell_name(kinds) != name:
                return None
            cell_of(kernel, kinds)
        # Loaded code needs only numba's reference counting, not the rest of the compiler.
        rtsys.initialize(self.targetctx)
        return compiler.CompileResult._rebuild(self.targetctx, *reduced)

    def _compiled(self, arguments: Arguments, key: str = "", library: Any = None, **settings: bool) -> Any:
        flags = _Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        for name, value in settings.items():
            setattr(flags, name, value)
        flags.key = key
        return compiler.compile_extra(
            *(self.typingctx, self.targetctx, self.py_func),
            **{"args": arguments, "return_type": self._returns, "flags": flags, "locals": {}},
            library=library,
            pipeline_class=compiler.Compiler if flags.nrt else _ShortPipeline,
        )


class _ShortPipeline(compiler.CompilerBase):
    """numba's compiler without the passes that are unnecessary for functions that create no arrays."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [step for step in passes.passes if step[0].__name__ not in _FOR_OTHERS]
        passes.finalize()
        return [passes]


class _Flags(compiler.Flags):
    """numba's options for one function; `key` makes the symbols of its machine code unique."""

    key = ""

    def get_mangle_string(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()[:32] if self.key else super().get_mangle_string()


class _BlockLibrary(JITCodeLibrary):
    """Code that becomes machine code only as a part of its callers.

    numba's passes over single functions simplify it first; without them kernels run slower and compile no
    faster.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _without_bitcode(reduced: Any, library: Any) -> Any:
    """Return what numba stores of compiled code, with a stub for each function in place of its bitcode.

    numba links bitcode into callers, which kernels do not need, and reads the names of functions from it.
    Reading all of it took longer than loading the machine code.
    """
    (name, kind, (machine_code, _)), *others = reduced
    stubs = ir.Module()
    for function in library.get_defined_functions():
        stub = ir.Function(stubs, ir.FunctionType(ir.VoidType(), []), function.name)
        ir.IRBuilder(stub.append_basic_block()).ret_void()
    bitcode = binding.parse_assembly(str(stubs)).as_bitcode()
    return (name, kind, (machine_code, bitcode)), *others


def _name(kernel: Kernel) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"


def _reached(kernel: Kernel) -> set[Kernel]:
    """Return a kernel and all kernels that it may call, directly or indirectly."""
    reached: set[Kernel] = set()
    waiting = {kernel}
    while waiting:
        reached |= waiting
        values: list[object] = []
        for function in (known.py_func for known in waiting):
            values += (function.__globals__.get(name) for name in names_of(function.__code__))
            values += (cell.cell_contents for cell in function.__closure__ or ())
        waiting = {value for value in values if isinstance(value, Kernel)} - reached
    return reached
