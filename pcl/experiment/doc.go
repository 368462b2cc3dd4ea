// Package experiment makes whole runs: it plays the scenario of a [Config] with a learner, measures it, writes
// its result, records and checkpoints, and takes it up again. [Run] makes one run. A [Session] makes several
// on one data set, and remembers which are finished:
//
//	s := experiment.New("glyphs", experiment.Options{})
//	configs := experiment.Vary(experiment.DefaultConfig("glyphs"), []string{"emgd-gmc", "avggrad"}, nil, 1234, 1235)
//	runs, err := s.Run(ctx, configs, nil)
//
// A second call reads the four results from their folders, as does a program that was started anew, and
// `pcl run` writes to the same folders. [Session.Play] makes a run whose learner can be looked at
// after each step, [Session.Learner] and [Session.Task] are its parts.
package experiment
