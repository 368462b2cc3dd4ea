/* Checks the C library, and with the argument "time" measures a call:
 *     bash bindings/c/build DIR
 *     cc -Ibindings/c bindings/c/testdata/smoke.c -LDIR -lparallelcl -lpthread -lm -Wl,-rpath,DIR -o smoke && ./smoke && ./smoke time
 */
#define _POSIX_C_SOURCE 200809L
#include "parallelcl.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char error[512];
static int failures;

static void check(int ok, const char *what) {
	if (!ok) {
		failures++;
		printf("FAIL %s: %s\n", what, error);
	}
}

static int close_to(const double *got, const double *want, int k) {
	for (int i = 0; i < k; i++)
		if (!(fabs(got[i] - want[i]) <= 1e-6)) return 0;
	return 1;
}

static pcl_handle opened(const char *name, const char *params) {
	pcl_handle rule = pcl_open(name, params, 0, error, sizeof error);
	check(rule != 0, name);
	return rule;
}

/* The two gradients (-4,1,1) and (6,1,1), and the weights that were computed without this library. */
static double jacobian[] = {-4, 1, 1, 6, 1, 1}, gram[] = {18, -22, -22, 38};
static const struct {
	const char *name, *params;
	double weights[2];
} oracles[] = {
	{"mgda", "", {.6, .4}},
	{"upgrad", "{}", {1.111111, .789474}},
	{"config", "", {1.226483, .844124}},
	{"imtl-g", "", {.592330, .407670}},
	{"emgd-gmc", "{\"tau\": 5}", {1.227128, .845351}},
	{"emgd-gmc", "{\"tau\": \"1\"}", {1.251119, .963249}},
	{"emgd-gs", "{\"tau\": 1}", {1.2, .8}},
};

static void test_oracles(void) {
	for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
		pcl_handle rule = opened(oracles[i].name, oracles[i].params);
		double weights[2], direction[3];
		pcl_call call = {.k = 2, .gram = gram, .weights = weights, .error = error, .error_size = sizeof error};
		check(pcl_weights(rule, &call) == PCL_OK && close_to(weights, oracles[i].weights, 2), oracles[i].name);
		pcl_end(rule, 1, error, sizeof error);
		pcl_end(rule, 2, error, sizeof error);
		call.gram = NULL, call.jacobian = jacobian, call.columns = 3, call.direction = direction;
		check(pcl_weights(rule, &call) == PCL_OK && close_to(weights, oracles[i].weights, 2), oracles[i].name);
		for (int c = 0; c < 3; c++)
			check(fabs(direction[c] - weights[0] * jacobian[c] - weights[1] * jacobian[3 + c]) < 1e-12, "direction");
		pcl_close(rule);
	}
}

static void test_certificate(void) {
	pcl_handle rule = opened("emgd-gmc", "");
	float rows[] = {-4, 1, 1, 6, 1, 1, 0, 0, 0};
	double weights[3], sigma[3], slacks[3], want[] = {1.227128, .845351, 0};
	uint8_t active[3], left_out[3];
	int64_t ids[] = {0, 7, 9};
	pcl_call call = {.k = 3, .columns = 3, .jacobian32 = rows, .ids = ids, .weights = weights, .sigma = sigma, .slacks = slacks,
		.active = active, .left_out = left_out, .error = error, .error_size = sizeof error};
	check(pcl_weights(rule, &call) == PCL_OK && close_to(weights, want, 3), "a row of zeros");
	check(left_out[2] && !left_out[0] && active[0] && active[1] && !active[2], "flags");
	check(fabs(sigma[0] - .405077) < 1e-6 && call.status == PCL_OPTIMAL && fabs(call.gap) < 1e-12, "certificate");
	char *text = pcl_message(call.status);
	check(strstr(text, "optimal") != NULL, "message");
	pcl_free(text);
	pcl_close(rule);
}

static void test_state(void) {
	pcl_handle a = opened("emgd-gmc", ""), b = opened("emgd-gmc", ""), other = opened("dwa", "");
	double first[2], second[2], later[] = {1, -.5, -.5, 2};
	pcl_call call = {.k = 2, .gram = gram, .weights = first, .error = error, .error_size = sizeof error};
	check(pcl_weights(a, &call) == PCL_OK, "first step");
	int64_t length = 0;
	char *state = pcl_state(a, &length, error, sizeof error);
	check(state && length > 0 && pcl_set_state(b, state, length, error, sizeof error) == PCL_OK, "state");
	check(pcl_set_state(other, state, length, error, sizeof error) == PCL_BAD_INPUT && strstr(error, "dwa"), "another rule's state");
	call.gram = later;
	check(pcl_weights(a, &call) == PCL_OK, "second step");
	call.weights = second;
	check(pcl_weights(b, &call) == PCL_OK && memcmp(first, second, sizeof first) == 0, "the same bits");
	pcl_free(state);
	pcl_close(a), pcl_close(b), pcl_close(other);
}

static void refused(pcl_handle rule, pcl_call call, const char *text) {
	error[0] = 0;
	call.error = error, call.error_size = sizeof error;
	if (pcl_weights(rule, &call) != PCL_BAD_INPUT || !strstr(error, text)) {
		failures++;
		printf("FAIL want \"%s\", got \"%s\"\n", text, error);
	}
}

static void test_errors(void) {
	pcl_handle rule = opened("emgd-gmc", "");
	double weights[2], bad[] = {18, NAN, NAN, 38}, skew[] = {1, .5, .25, 1};
	int64_t same[] = {4, 4};
	pcl_call call = {.k = 2, .gram = gram, .weights = weights}, wrong;
	wrong = call, wrong.gram = bad, refused(rule, wrong, "gram row 1, entry 2 is NaN");
	wrong = call, wrong.gram = skew, refused(rule, wrong, "not symmetric");
	wrong = call, wrong.gram = NULL, refused(rule, wrong, "give one of gram");
	wrong = call, wrong.k = 0, refused(rule, wrong, "k = 0");
	wrong = call, wrong.k = -3, refused(rule, wrong, "k = -3");
	wrong = call, wrong.weights = NULL, refused(rule, wrong, "weights is NULL");
	wrong = call, wrong.ids = same, refused(rule, wrong, "given twice");
	wrong = call, wrong.direction = weights, refused(rule, wrong, "needs the Jacobian");
	refused(rule + 1000, call, "no open rule");
	pcl_close(rule);
	pcl_close(rule);
	refused(rule, call, "no open rule");
	check(pcl_open("nonesuch", "", 0, error, sizeof error) == 0 && strstr(error, "unknown method"), "unknown rule");
	check(pcl_open("mgda", "[1]", 0, error, sizeof error) == 0 && strstr(error, "not a JSON object"), "parameters");
	check(pcl_open("mgda", "{\"tau\": 1}", 0, error, sizeof error) == 0 && strstr(error, "no parameter"), "unknown parameter");
	char small[8];
	check(pcl_open("nonesuch", "", 0, small, sizeof small) == 0 && strlen(small) == 7, "a short buffer");
	check(pcl_open("nonesuch", "", 0, NULL, 0) == 0 && pcl_weights(1, NULL) == PCL_BAD_INPUT, "no buffer");
	char *names = pcl_names(), *info = pcl_info("famo", "", error, sizeof error);
	check(strstr(names, "\"upgrad\"") && info && strstr(info, "\"follows\":true"), "names and info");
	pcl_free(names), pcl_free(info);
}

/* The sum is beyond the range of numbers, which is found when the weights are known already. */
static void test_failure_leaves_the_answer(void) {
	pcl_handle rule = opened("sum", "");
	double long_rows[] = {1.7e308, 0, 1.7e308, 1}, weights[] = {-7, -7}, direction[] = {-8, -8};
	pcl_call call = {.k = 2, .columns = 2, .jacobian = long_rows, .weights = weights, .direction = direction};
	refused(rule, call, "leave the range");
	check(weights[0] == -7 && weights[1] == -7 && direction[0] == -8 && direction[1] == -8, "a call that failed wrote an answer");
	pcl_close(rule);
}

/* Every thread uses a rule of its own and one that all share. */
static pcl_handle shared;

static void *work(void *unused) {
	pcl_handle own = pcl_open("upgrad", "", 0, NULL, 0);
	for (long i = 0; i < 2000; i++) {
		double weights[2];
		pcl_call call = {.k = 2, .gram = gram, .weights = weights};
		if (pcl_weights(own, &call) || !close_to(weights, oracles[1].weights, 2)) return "own";
		if (pcl_weights(shared, &call) || !close_to(weights, oracles[0].weights, 2)) return "shared";
	}
	pcl_close(own);
	return unused;
}

static void test_threads(void) {
	pthread_t threads[8];
	shared = opened("mgda", "");
	for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 8; i++) {
		void *problem;
		pthread_join(threads[i], &problem);
		check(problem == NULL, "threads");
	}
	pcl_close(shared);
}

static void follow(void) {
	pcl_handle rule = opened("famo", "");
	double weights[2], losses[] = {1, 2}, after[] = {.5, 1.9}, before;
	pcl_call call = {.k = 2, .gram = gram, .losses = losses, .weights = weights, .error = error, .error_size = sizeof error};
	check(pcl_weights(rule, &call) == PCL_OK, "famo");
	before = weights[0];
	check(pcl_follow(rule, 2, NULL, after, error, sizeof error) == PCL_OK && pcl_weights(rule, &call) == PCL_OK, "follow");
	check(weights[0] < before, "famo moves weight to the loss that fell least");
	pcl_close(rule);
}

/* measure prints the time of a call with a Gram matrix of 5 gradients that conflict. */
static void measure(const char *name) {
	double rows[5][20], m[25], weights[5], losses[] = {1, 2, 3, 4, 5};
	srand(1);
	for (int i = 0; i < 5; i++)
		for (int c = 0; c < 20; c++) rows[i][c] = (rand() / (double)RAND_MAX - .4) * (i + 1);
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 5; j++) {
			m[5 * i + j] = 0;
			for (int c = 0; c < 20; c++) m[5 * i + j] += rows[i][c] * rows[j][c];
		}
	pcl_handle rule = opened(name, "");
	pcl_call call = {.k = 5, .gram = m, .losses = losses, .weights = weights, .error = error, .error_size = sizeof error};
	double best = INFINITY;
	for (int round = 0; round < 400; round++) {
		struct timespec from, to;
		enum { calls = 200 };
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < calls; i++) check(pcl_weights(rule, &call) == PCL_OK, name);
		clock_gettime(CLOCK_MONOTONIC, &to);
		best = fmin(best, ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / calls);
	}
	printf("%-10s %.2f us a call, K = 5\n", name, best);
	pcl_close(rule);
}

int main(int argc, char **argv) {
	if (pcl_abi() != PCL_ABI) return puts("the library and the header differ"), 1;
	if (argc > 1 && strcmp(argv[1], "time") == 0) {
		const char *names[] = {"avggrad", "mgda", "emgd-gmc", "emgd-gs", "emgd-log", "upgrad", "pcgrad", "config"};
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) measure(names[i]);
		return failures != 0;
	}
	test_oracles();
	test_certificate();
	test_state();
	test_errors();
	test_failure_leaves_the_answer();
	test_threads();
	follow();
	printf(failures ? "%d failed\n" : "the C library works\n", failures);
	return failures != 0;
}
