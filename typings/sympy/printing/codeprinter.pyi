from sympy.printing.str import StrPrinter

class CodePrinter(StrPrinter):
    _module: str
    def _module_format(self, fully_qualified_name: str, register: bool = ...) -> str: ...
