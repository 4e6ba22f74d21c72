// Numbers that count what is done with them; included before an exported source that is compiled as C++.
#include <cmath>
#include <math.h>

extern "C" {
long operations = 0;
}

struct Counted {
    double v;
    Counted() : v(0.0) {}
    Counted(double value) : v(value) {}
    explicit operator int() const { return static_cast<int>(v); }
};

#define BINARY(op)                                                                     \
    static inline Counted operator op(Counted a, Counted b)                            \
    {                                                                                  \
        operations++;                                                                  \
        return a.v op b.v;                                                             \
    }                                                                                  \
    static inline Counted &operator op##=(Counted & a, Counted b) { return a = a op b; }
#define RELATION(op) \
    static inline bool operator op(Counted a, Counted b) { return a.v op b.v; }
#define UNARY_FUNCTION(f)                 \
    static inline Counted counted_##f(Counted x) \
    {                                     \
        operations++;                     \
        return std::f(x.v);               \
    }
#define BINARY_FUNCTION(f)                           \
    static inline Counted counted_##f(Counted x, Counted y) \
    {                                                \
        operations++;                                \
        return std::f(x.v, y.v);                     \
    }
BINARY(+)
BINARY(-)
BINARY(*)
BINARY(/)
RELATION(<)
RELATION(<=)
RELATION(>)
RELATION(>=)
RELATION(==)
RELATION(!=)
UNARY_FUNCTION(fabs)
UNARY_FUNCTION(sqrt)
UNARY_FUNCTION(sin)
UNARY_FUNCTION(cos)
UNARY_FUNCTION(tan)
UNARY_FUNCTION(asin)
UNARY_FUNCTION(acos)
UNARY_FUNCTION(atan)
BINARY_FUNCTION(fmin)
BINARY_FUNCTION(fmax)
BINARY_FUNCTION(atan2)
BINARY_FUNCTION(copysign)
static inline Counted operator-(Counted x)
{
    operations++;
    return -x.v;
}
static inline bool counted_isnan(Counted x) { return std::isnan(x.v); }

#undef isnan
#define isnan counted_isnan
#define fabs counted_fabs
#define sqrt counted_sqrt
#define sin counted_sin
#define cos counted_cos
#define tan counted_tan
#define asin counted_asin
#define acos counted_acos
#define atan counted_atan
#define fmin counted_fmin
#define fmax counted_fmax
#define atan2 counted_atan2
#define copysign counted_copysign
#define double Counted
#define restrict __restrict
