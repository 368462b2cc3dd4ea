package viz

import "github.com/parallelcl/parallelcl/pcl/rehearsal"

// ofMemory says whether a row is one of the memory. The row of a penalty, whose id is below 0 too, is none.
func ofMemory(id int) bool { return id <= 0 && id != rehearsal.PenaltyRow }
