package results

// Metric is a number of each run in percent, of which the tables, the comparisons and the pages
// show the mean over runs.
type Metric struct {
	Name  string // in files and heads of tables, such as "A_first"
	About string // what it is, for the line below a table

	Of func(*Run) float64 // NaN for a run that has none
}

// The metrics of docs/protocol.md §3.1.
var (
	FinalAccuracy = &Metric{"A", "mean final accuracy over the tasks", Accuracy}
	FinalChange   = &Metric{
		"F", "A minus A_first, the mean accuracy at each task's own end (higher is better)", Forgetting,
	}
	FirstAccuracy = &Metric{"A_first", "", func(r *Run) float64 { return r.AFirst }}
)

// Metrics are all metrics, in the order in which tables have them. The first three are fields of a
// [Run], and each file has them. Another one is a function of a run's tasks and evaluations, and
// stands last: CSV files of grids that lack its column are read, and have NaN there.
var Metrics = []*Metric{FinalAccuracy, FinalChange, FirstAccuracy}

// MetricNamed returns the metric of a name, or nil.
func MetricNamed(name string) *Metric {
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	return nil
}
