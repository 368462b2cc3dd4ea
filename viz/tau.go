package viz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// defaultTau are the temperatures that the methods have when none is given, as pcl/method says.
var defaultTau = map[string]float64{
	"emgd-gmc": emgd.DefaultTau, "emgd-gs": emgd.DefaultTau, "emgd-log": emgd.DefaultLogTau, "emgd": 1.5,
}

// tauKey is the parameter that has a run's temperature. In a composition the rule, which is its first part, may be named
// with it.
func tauKey(r *results.Run) string {
	if long := ruleOf(r) + ".tau"; r.Params[long] != nil {
		return long
	}
	return "tau"
}

// ruleOf is the rule of a run's method: in "emgd-log+der-pp" the rule is emgd-log.
func ruleOf(r *results.Run) string {
	rule, _, _ := strings.Cut(r.Method, "+")
	return rule
}

// TemperatureSet returns the temperature that was set for a run, as it was written. A tau of methods without elastic
// factors is none, and "auto" is no fixed one.
func TemperatureSet(r *results.Run) (tau string, ok bool) {
	given := r.Params[tauKey(r)]
	if _, known := defaultTau[ruleOf(r)]; !known || given == nil || given == "auto" {
		return "", false
	}
	return fmt.Sprint(given), true
}

// temperatureOf returns a run's fixed temperature; ok says whether it has one.
func temperatureOf(r *results.Run) (tau float64, ok bool, err error) {
	normal, known := defaultTau[ruleOf(r)]
	if !known { // what it calls tau, if anything, is no temperature
		return 0, false, nil
	}
	given := r.Params[tauKey(r)]
	switch v := given.(type) {
	case nil:
		return normal, true, nil
	case float64:
		tau = v
	case int:
		tau = float64(v)
	case string:
		if v == "auto" {
			return 0, false, nil
		}
		if tau, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, false, fmt.Errorf("viz: run %s: tau %q is no number", r.ID, v)
		}
	default:
		return 0, false, fmt.Errorf("viz: run %s: tau %v is no number", r.ID, v)
	}
	if !(tau > 0) {
		return 0, false, fmt.Errorf("viz: run %s: tau is %v; want a number above 0", r.ID, given)
	}
	return tau, true, nil
}
