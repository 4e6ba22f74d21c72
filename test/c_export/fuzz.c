/* Any numbers at all into every function: whatever comes out must be finite, and nothing may trap. */
#include "robot_under_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256

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

static real in[6][MOST], out[6][MOST];
static robot_under_test_memory memory;
static long counts[6];

static int any_call(int which);
static const int n_functions;

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 1000;
    robot_under_test_init(&memory);
    for (long k = 0; k < rounds; k++) {
        const real size = (real)(1.0 / (double)(1 + next() % 30)); /* near the reference, and not */
        for (int v = 0; v < 6; v++) {
            for (int i = 0; i < MOST; i++) {
                in[v][i] = size * any_number(9);
                out[v][i] = 0;
            }
        }
        if (k % 5 == 0) {
            in[next() % 2][next() % 2] = any_number((unsigned)(next() % 5));
        }
        const int status = any_call((int)(next() % (unsigned)n_functions));
        if (status < 0 || status > 5) {
            return 2;
        }
        counts[status]++;
        for (int v = 0; v < 6; v++) {
            for (int i = 0; i < MOST; i++) {
                if (!isfinite(out[v][i])) {
                    printf("not finite\n");
                    return 3;
                }
            }
        }
    }
    printf("%ld %ld %ld %ld %ld %ld\n", counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    return 0;
}
