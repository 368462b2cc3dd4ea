// Package experiment makes whole runs. A run trains a learner on the scenario that a [Config]
// describes, measures its accuracy, and writes its result, records and checkpoints to a folder.
// Finished runs there are not made again; unfinished ones resume. [Each] makes runs, with any
// number of processes in the same folders. To make some on one data set, begin with a [Session]:
//
//	s := experiment.New("glyphs", experiment.Options{})
//	configs := experiment.Vary(experiment.DefaultConfig("glyphs"), []string{"emgd-gmc", "avggrad"}, nil, 1234, 1235)
//	runs, err := s.Run(ctx, configs, nil)
//
// A second call reads the four results from their folders instead of training again, even in
// another process. The command `pcl run` uses the same folders. [Session.Play] makes a run and
// hands over its learner after each step. To train step by step yourself, use [Session.Learner] and
// [Session.Task].
package experiment
