package rehearsal

// RowsSeen says whether the rule sees a loss or a penalty that a part adds as a row of its own.
type RowsSeen string

const (
	RowsJoined RowsSeen = "joined" // as a part of the memory's row
	RowsApart  RowsSeen = "apart"  // as a row of its own
)

// Draws says on which samples the two losses of [Distill] are.
type Draws string

const (
	DrawsOne Draws = "one" // on one batch
	DrawsTwo Draws = "two" // on two independent ones
)

// NearestMeanScope says which predictions [NearestMean] makes.
type NearestMeanScope string

const (
	NearestMeanAlways NearestMeanScope = "always" // all of them
	// those among the classes of several tasks, as in class-incremental mode
	NearestMeanBetweenTasks NearestMeanScope = "between-tasks"
)
