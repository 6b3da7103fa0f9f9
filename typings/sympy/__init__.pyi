# The part of sympy that this project uses; sympy itself ships no types.

from sympy.concrete import (
    summation as summation,
)
from sympy.core import (
    Add as Add,
)
from sympy.core import (
    Basic as Basic,
)
from sympy.core import (
    Dummy as Dummy,
)
from sympy.core import (
    Eq as Eq,
)
from sympy.core import (
    Expr as Expr,
)
from sympy.core import (
    Function as Function,
)
from sympy.core import (
    Ge as Ge,
)
from sympy.core import (
    Gt as Gt,
)
from sympy.core import (
    Integer as Integer,
)
from sympy.core import (
    Le as Le,
)
from sympy.core import (
    Lt as Lt,
)
from sympy.core import (
    Mod as Mod,
)
from sympy.core import (
    Mul as Mul,
)
from sympy.core import (
    Ne as Ne,
)
from sympy.core import (
    Number as Number,
)
from sympy.core import (
    Pow as Pow,
)
from sympy.core import (
    Rational as Rational,
)
from sympy.core import (
    S as S,
)
from sympy.core import (
    Symbol as Symbol,
)
from sympy.core import (
    SympifyError as SympifyError,
)
from sympy.core import (
    UnevaluatedExpr as UnevaluatedExpr,
)
from sympy.core import (
    Wild as Wild,
)
from sympy.core import (
    expand as expand,
)
from sympy.core import (
    preorder_traversal as preorder_traversal,
)
from sympy.core import (
    srepr as srepr,
)
from sympy.core import (
    symbols as symbols,
)
from sympy.core import (
    sympify as sympify,
)
from sympy.functions import (
    Abs as Abs,
)
from sympy.functions import (
    Max as Max,
)
from sympy.functions import (
    Min as Min,
)
from sympy.functions import (
    Piecewise as Piecewise,
)
from sympy.functions import (
    ceiling as ceiling,
)
from sympy.functions import (
    floor as floor,
)
from sympy.functions import (
    sign as sign,
)
from sympy.logic.boolalg import (
    ITE as ITE,
)
from sympy.logic.boolalg import (
    And as And,
)
from sympy.logic.boolalg import (
    Equivalent as Equivalent,
)
from sympy.logic.boolalg import (
    Implies as Implies,
)
from sympy.logic.boolalg import (
    Not as Not,
)
from sympy.logic.boolalg import (
    Or as Or,
)
from sympy.logic.boolalg import (
    Xor as Xor,
)
from sympy.logic.boolalg import (
    false as false,
)
from sympy.logic.boolalg import (
    true as true,
)
from sympy.printing import (
    ccode as ccode,
)
from sympy.printing import (
    cxxcode as cxxcode,
)
from sympy.printing import (
    fcode as fcode,
)
from sympy.printing import (
    latex as latex,
)
from sympy.printing import (
    pretty as pretty,
)
from sympy.printing import (
    pycode as pycode,
)
from sympy.printing import (
    sstr as sstr,
)
from sympy.simplify import (
    cancel as cancel,
)
from sympy.simplify import (
    factor as factor,
)
from sympy.simplify import (
    fraction as fraction,
)
from sympy.simplify import (
    simplify as simplify,
)
from sympy.simplify import (
    together as together,
)
from sympy.utilities.lambdify import lambdify as lambdify

__version__: str
