# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package as pages of Markdown, from its stubs and sources: nothing is imported.

A page has what its modules define and the package shows. A module that shows something and has no page is an error.
"""
import ast
import pathlib
import re
import textwrap

PACKAGE = pathlib.Path(__file__).parents[2] / "python/headpond"
HIDDEN = ("bytes", "range", "zip")  # Not in __all__, as they would hide a builtin.

PAGES = {
    "datasets": ("Datasets", ["_sources", "_dataset", "_memory", "_joined", "_arrow", "_map_style", "_migrate", "_steps", "_parsers"], "What makes a dataset, and what each dataset has."),
    "kernels": ("Kernels", ["_kernels"], "What `map` runs on images and sounds, in C++. Each is also callable on a value."),
    "loader": ("The Loader", ["_loader", "_resources", "_stats", "_sequence"], "Batches that threads prepare ahead."),
    "queues": ("Queues", ["_queues"], "TensorFlow 1's queues, and the threads that fill them."),
    "monitor": ("What watches a run", ["_monitor", "_run_log", "__init__"], "Runs in a folder, verdicts, TensorBoard, waits, timelines, progress."),
    "pictures": ("Pictures", ["_pictures"], "What a batch looks like."),
    "random": ("Random numbers", ["_core"], "C++'s, which depend on nothing but their key."),
    "files": ("Files of records and arrays", ["_files"], "Read and written without a dataset."),
    "values": ("Dtypes and specs", ["_values"], "How fields are described."),
    "errors": ("Errors", ["errors"], "Each is also the class of Python that fits."),
}
# Modules that are shown as such.
MODULES = {
    "tf1": ("headpond.tf1", "TensorFlow 1's input functions, with its names and order of arguments."),
    "trace": ("headpond.trace", "What each thread does and when."),
    "torch": ("headpond.torch", "PyTorch: what `format=\"torch\"` and `to_torch()` are made of."),
    "jax": ("headpond.jax", "JAX: what `format=\"jax\"` is made of."),
}


class Module:
    """What the stub of a module defines or, where it has none, its source."""

    def __init__(self, name):
        stub = PACKAGE / f"{name}.pyi"
        path = stub if stub.exists() else PACKAGE / f"{name}.py"
        self.name = name
        self.tree = ast.parse(path.read_text())
        self.defined = {}  # name -> node
        self.imported = {}  # name -> (module, name there)
        self.stars = []
        self.shown = []  # __all__
        for node in self.tree.body:
            self._add(node)

    def _add(self, node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.defined[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            for one in node.names:
                if one.name == "*":
                    self.stars.append(node.module)
                else:
                    self.imported[one.asname or one.name] = (node.module, one.name)
        elif isinstance(node, ast.If):  # if TYPE_CHECKING
            for one in node.body:
                self._add(one)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._add_value(target, node)

    def _add_value(self, target, node):
        if isinstance(target, ast.Tuple):
            for one in target.elts:
                self._add_value(one, node)
        elif target.id == "__all__":
            self.shown += ast.literal_eval(node.value) if isinstance(node.value, ast.List) else []
        else:
            self.defined.setdefault(target.id, node)


class Package:
    def __init__(self):
        self.modules = {}
        init = self.module("__init__")
        self.names = sorted({*init.shown, *HIDDEN, *(name for star in init.stars for name in self.module(star).shown)})

    def module(self, name):
        if name not in self.modules:
            self.modules[name] = Module(name)
        return self.modules[name]

    def found(self, name, module="__init__"):
        """(module, node) of the name's definition; (module, None) of a module."""
        here = self.module(module)
        if name in here.imported:
            source, there = here.imported[name]
            return (there, None) if source is None else self.found(there, source)
        if name in here.defined:
            node = here.defined[name]
            value = getattr(node, "value", None)
            if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in here.imported:
                there = here.imported[value.value.id][1]
                return there, self.found(value.attr, there)[1]  # Batcher = _core.Batcher
            return module, node
        for star in here.stars:
            if name in self.module(star).defined:
                return star, self.module(star).defined[name]
        raise KeyError(f"{name}: {module} neither defines nor imports it")

    def results(self):
        """Names of the classes of the module _core that calls return, and that are shown nowhere else."""
        todo = {name for path in sorted(PACKAGE.glob("*.py")) for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.FunctionDef) and node.returns for name in re.findall(r"_core\.(\w+)", ast.unparse(node.returns))}
        core = self.module("_core").defined
        found = set()
        while todo:
            name = todo.pop()
            found.add(name)
            words = {word for node in core[name].body if isinstance(node, ast.FunctionDef) and node.returns for word in re.findall(r"\w+", ast.unparse(node.returns))}
            todo |= {word for word in words if isinstance(core.get(word), ast.ClassDef)} - found
        return sorted(found - set(self.names))

    def bases(self, module, node):
        """(module, class) of each base that is the package's own."""
        for base in node.bases:
            name = ast.unparse(base)
            if name.startswith("_core."):
                yield "_core", self.module("_core").defined[name.split(".")[1]]
            elif name in self.module(module).imported or isinstance(self.module(module).defined.get(name), ast.ClassDef):
                yield self.found(name, module)


def text_of(node):
    """A docstring as Markdown: pages of docs/ are links, and a paragraph with lines that are indented is a program."""
    made = []
    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
        if re.search("^    ", paragraph, re.M):
            made.append(f"```python\n{textwrap.dedent(paragraph)}\n```")
        else:
            made.append(re.sub(r"docs/(\w+\.md)(#[\w-]+)?", r"[\1](../docs/\1\2)", paragraph.replace("<", "\\<")))
    return "\n\n".join(made) + "\n"


def signature(function, method):
    """The arguments as written, without self."""
    given = ast.parse(ast.unparse(function)).body[0].args
    if method and not any(ast.unparse(one) == "staticmethod" for one in function.decorator_list):
        first = given.posonlyargs if given.posonlyargs else given.args
        del first[0]
    answer = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    return f"({ast.unparse(given).lstrip('/, ') if method else ast.unparse(given)}){answer}"


def directive(depth, kind, head, body, options=""):
    head, options = (text.replace("_core.", "") for text in (head, options))
    fence = "`" * (8 - depth)
    return f"{fence}{{py:{kind}}} {head}\n{options}\n{body}{fence}\n\n"


def is_property(node):
    return any(ast.unparse(one) == "property" for one in node.decorator_list)


def member(node):
    if is_property(node):
        returns = f":type: {ast.unparse(node.returns)}\n" if node.returns else ""
        return directive(1, "property", node.name, text_of(node), returns)
    return directive(1, "method", node.name + signature(node, True), text_of(node))


def members(package, module, node, seen):
    """Methods, properties and fields: the class's own, then its bases'."""
    made = ""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and one.name not in seen:
            seen.add(one.name)
            made += member(one)
        elif isinstance(one, ast.AnnAssign) and not one.target.id.startswith("_") and one.target.id not in seen:
            seen.add(one.target.id)
            made += directive(1, "attribute", one.target.id, "", f":type: {ast.unparse(one.annotation)}\n")
    for base in package.bases(module, node):
        made += members(package, *base, seen)
    return made


def class_page(package, module, node, shown):
    init = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    made_by_users = init is not None and module != "_core" and not any(argument.arg == "core" for argument in init.args.args)
    head = shown + (re.sub(r" -> None$", "", signature(init, True)) if made_by_users else "")
    bases = ", ".join(ast.unparse(base) for base in node.bases if ast.unparse(base).endswith("Error"))
    body = text_of(node) + (f"\nAlso {bases}.\n" if bases else "") + "\n" + members(package, module, node, set())
    return directive(0, "class", head, body)


def entry(package, module, node, shown):
    if isinstance(node, ast.ClassDef):
        return class_page(package, module, node, shown)
    if isinstance(node, ast.FunctionDef):
        return directive(0, "function", shown + signature(node, False), text_of(node))
    return directive(0, "data", shown, "")


def title(name, what, module):
    return f"# {name}\n\n{what}\n\n```{{py:currentmodule}} {module}\n```\n\n"


def pages():
    """The texts of the pages, by name, and what each shows: {page: (text, [name])}."""
    package = Package()
    made = {page: (title(name, what, "headpond"), []) for page, (name, _, what) in PAGES.items()}
    page_of = {module: page for page, (_, modules, _) in PAGES.items() for module in modules}
    results = package.results()
    made["results"] = (title("What calls return", "Objects that a program is given and does not make.", "headpond")
                       + "".join(entry(package, "_core", package.module("_core").defined[name], name) for name in results), results)
    modules = []
    for name in package.names:
        module, node = package.found(name)
        if node is None:
            modules.append(name)
            continue
        text, shown = made[page_of[module]]
        made[page_of[module]] = (text + entry(package, module, node, name), [*shown, name])
    for name in [*modules, *(one for one in MODULES if one not in modules)]:
        own = package.module(name)
        shown = own.shown or [one for one, node in own.defined.items() if not one.startswith("_") and not isinstance(node, ast.Assign)]
        text = "".join(entry(package, *package.found(one, name), one) for one in shown)
        made[name] = (title(MODULES[name][0], MODULES[name][1], f"headpond.{name}") + text, [f"{name}.{one}" for one in shown])
    return made
