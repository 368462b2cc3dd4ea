package serve

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// admit returns an error if no task of these classes may begin. Call it with s.mu held until the task has begun.
func (s *Service) admit(classes []int) error {
	if len(classes) == 0 {
		return errors.New("\"classes\" are missing: those of the task, as whole numbers")
	}
	met, n, listed := map[int]bool{}, 0, 0
	tasks := s.learner.Tasks()
	for _, t := range append(tasks, pcl.TaskInfo{Classes: classes}) {
		n += len(t.Classes)
		listed += listedBy(t.Classes)
		for _, c := range t.Classes {
			met[c] = true
		}
	}
	if s.learner.Options().Increment != scenario.TaskIncremental {
		n = len(met)
	}
	if n > s.options.MaxClasses {
		return fmt.Errorf("there would be %d classes; the service takes up to %d", n, s.options.MaxClasses)
	}
	if most := s.options.MaxListed; listed > most {
		return fmt.Errorf("the tasks would list %d classes, each task counted as ten more; the service keeps up to %d (Options.MaxListed)", listed, most)
	}
	return s.another(tasks)
}

// listedBy is how many classes a task counts for in Options.MaxListed: its own, and ten for itself.
func listedBy(classes []int) int { return len(classes) + 10 }

// another returns an error if as many tasks run as may. Call it with s.mu held until the task has begun.
func (s *Service) another(tasks []pcl.TaskInfo) error {
	running := 0
	for _, t := range tasks {
		if !t.Ended {
			running++
		}
	}
	if running >= s.options.MaxTasks {
		return fmt.Errorf("%d tasks run, and the service takes no more at once: end one", running)
	}
	return nil
}

// maxName is how many bytes a name of a task or a class may have.
const maxName = 200

// checkNames returns an error if a name is too long.
func checkNames(names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("the name %.20q… has %d bytes; want up to %d", name, len(name), maxName)
		}
	}
	return nil
}
