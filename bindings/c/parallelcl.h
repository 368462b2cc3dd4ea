/* The C interface of parallelcl: rules that turn the gradients of several losses into the weights of one step.
 *
 *     char error[512];
 *     pcl_handle rule = pcl_open("emgd-gmc", "{\"tau\": 5}", 0, error, sizeof error);
 *     double gram[] = {18, -22, -22, 38}, weights[2];
 *     pcl_call call = {.k = 2, .gram = gram, .weights = weights, .error = error, .error_size = sizeof error};
 *     if (pcl_weights(rule, &call) != PCL_OK) puts(error);
 *     pcl_close(rule);
 *
 * Matrices are row by row. Row i belongs to the stream ids[i], or to stream i+1 if ids is NULL; 0 is the memory, and
 * ids below 0 are further rows of it, such as those of the finished tasks that gem and pocl weigh.
 *
 * Threads: every function may be called from any thread. Calls with one handle wait for each other; different handles
 * work at the same time. After fork() the child must not call the library unless it calls exec.
 *
 * Errors: a function that fails writes a text, cut to error_size bytes with its final 0, and changes nothing else: the
 * rule remembers what it remembered before the call. Texts count rows and entries from 1, unless they say otherwise. error may be NULL.
 */
#ifndef PARALLELCL_H
#define PARALLELCL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PCL_ABI changes when a program has to be compiled again; pcl_abi() returns that of the library. */
#define PCL_ABI 1

enum {
	PCL_OK = 0,
	PCL_BAD_INPUT = 1, /* the text says which argument, row and entry, and what to do */
	PCL_INTERNAL = 2   /* a mistake in the library; the handle is of no more use, except to close it */
};

/* What pcl_call.status says of the weights. */
enum {
	PCL_NO_CERTIFICATE = -1, /* the rule comes without a proof */
	PCL_OPTIMAL = 0,
	PCL_STATIONARY = 1,
	PCL_FLOOR_BINDING = 2,
	PCL_FLOOR_INFEASIBLE = 3,
	PCL_ILL_CONDITIONED = 4,
	PCL_ITERATION_LIMIT = 5,
	PCL_ROWS_DROPPED = 6
};

typedef uint64_t pcl_handle; /* 0 is no rule */

/* One problem and its answer. All memory belongs to the caller, and the library keeps no pointer. */
typedef struct {
	/* The problem: either gram, or jacobian, or jacobian32. */
	int64_t k;               /* number of rows (losses) */
	int64_t columns;         /* entries of a row of the Jacobian */
	const double *gram;      /* J J^T: k*k */
	const double *jacobian;  /* J: k*columns */
	const float *jacobian32; /* J in float32 */
	const double *losses;    /* k, or NULL */
	const int64_t *ids;      /* k, all different, or NULL for 1, 2, ... */
	const double *factors;   /* k elastic factors to use instead of computed ones (emgd-...), or NULL */
	/* The answer. */
	double *weights;     /* k */
	double *direction;   /* columns: the sum of weights[i] * row i, or what the rule itself returns; NULL if not wanted */
	uint8_t *left_out;   /* k: 1 for a row whose gradient is negligible beside the longest one; or NULL */
	double *sigma;       /* k: the elastic factors of the certificate; or NULL */
	double *slacks;      /* k: J_i.d - sigma_i*level, in units of 4^exponent; or NULL */
	uint8_t *active;     /* k: 1 for a row whose weight is above the floor; or NULL */
	/* The certificate's numbers; see go doc emgd.Certificate. They are 0 without a certificate. */
	double norm2, level, violation, gap, cancellation, floor;
	int64_t exponent, iterations;
	int64_t status; /* PCL_OPTIMAL, ... */
	/* Where the text of an error goes. */
	char *error;
	int64_t error_size;
} pcl_call;

#ifndef PCL_TYPES_ONLY

int64_t pcl_abi(void);

/* pcl_open makes a rule by its name, with parameters as a JSON object ("" for the defaults), and the seed of rules that
 * draw random numbers. It returns 0 on an error. */
pcl_handle pcl_open(const char *name, const char *params, uint64_t seed, char *error, int64_t error_size);

/* pcl_close frees a rule. Closing one twice does nothing. */
void pcl_close(pcl_handle rule);

/* pcl_weights answers one problem. */
int64_t pcl_weights(pcl_handle rule, pcl_call *call);

/* pcl_follow passes the losses of the same batches after the step to a rule that learns from them (famo); other rules
 * ignore them. */
int64_t pcl_follow(pcl_handle rule, int64_t k, const int64_t *ids, const double *losses, char *error, int64_t error_size);

/* pcl_end says that a stream has ended: the rule forgets it. */
int64_t pcl_end(pcl_handle rule, int64_t id, char *error, int64_t error_size);

/* pcl_state returns what the rule remembers, length bytes to be freed by pcl_free; NULL on an error. pcl_set_state
 * gives it to a rule of the same name and parameters, which then goes on with the same bits. */
char *pcl_state(pcl_handle rule, int64_t *length, char *error, int64_t error_size);
int64_t pcl_set_state(pcl_handle rule, const char *state, int64_t length, char *error, int64_t error_size);

/* pcl_info describes a rule with these parameters as JSON; pcl_names lists all rules as a JSON list. Free both by
 * pcl_free. pcl_info returns NULL on an error. */
char *pcl_info(const char *name, const char *params, char *error, int64_t error_size);
char *pcl_names(void);

/* pcl_message says what a status means and what to try; free it by pcl_free. */
char *pcl_message(int64_t status);

void pcl_free(char *text);

#endif

#ifdef __cplusplus
}
#endif
#endif
