/* Any numbers at all into every function: whatever comes out must be finite, and nothing may trap. */
#include "robot_under_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long seed = 88172645463325252ULL;

static unsigned long long next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static real any_number(unsigned kind)
{
    const real moderate = (real)((double)(next() >> 11) / 9007199254740992.0 * 6.0 - 3.0);
    real bits;
    const unsigned long long pattern = next();
    switch (kind) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    case 3:
        memcpy(&bits, &pattern, sizeof bits);
        return bits;
    case 4:
        return (real)1e8 * moderate;
    default:
        return moderate;
    }
}

static robot_under_test_memory memory;
static long counts[6];
static real size;
static int strange; /* one number of this call is no ordinary one ... */
static int odd;     /* ... this one of those to come */
static int refused; /* some number is one that every function has to refuse */

/* Before the first of all `n` numbers of a call. */
static void begin(int n)
{
    odd = strange ? (int)(next() % (unsigned)n) : -1;
    refused = 0;
}

static void fill(real *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = odd-- == 0 ? any_number((unsigned)(next() % 5)) : size * any_number(9);
        refused = refused || !(fabs((double)x[i]) <= (double)(real)1e8);
    }
}

static void check(const real *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            printf("not finite\n");
            exit(3);
        }
    }
}

/* Arrays of just the documented lengths, between which the sanitizer watches. */
static int any_call(int which);
static const int n_functions;

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    robot_under_test_init(&memory);
    for (long k = 0; k < rounds; k++) {
        size = (real)(1.0 / (double)(1 + next() % 30)); /* near the reference, and not */
        strange = k % 5 == 0;
        const int status = any_call((int)(next() % (unsigned)n_functions));
        if (status < 0 || status > 5 || (refused && status != 1)) {
            printf("status %d\n", status);
            return 2;
        }
        counts[status]++;
    }
    printf("%ld %ld %ld %ld %ld %ld\n", counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    return 0;
}
