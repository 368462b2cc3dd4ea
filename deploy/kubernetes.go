package deploy

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// Kubernetes describes an Indexed Job that makes a grid. Each index makes a shard.
type Kubernetes struct {
	Grid  string   // name of the grid, or the path of its TOML file
	Flags []string // more flags of pcl grid run
	Name  string   // of the Job; empty stands for one made from the grid's
	Image string   // with pcl
	Claim string   // the persistent volume claim with the grid's folder, which many nodes can write to
	Path  string   // of that folder in the volume; empty is the volume itself
	// DataClaim is the claim with the data sets; empty stands for the folder data in the volume of the grid.
	DataClaim string
	// User and Group are the IDs of the pods' processes, which must be able to write to the volume; 0 stands for 65532.
	User, Group int
	XLAFlags    string   // value of XLA_FLAGS
	Files       []string // files and folders outside the data folder from which the grid reads

	Shards     int
	Jobs       int           // runs that a pod makes at the same time
	Concurrent int           // pods at the same time; 0 stands for one for each shard
	Retries    int           // how often a shard's pod may fail; disruptions and saved interruptions do not count
	Grace      time.Duration // how long a pod may take to save before it is killed

	CPUs   int // processors of a pod
	Memory string
	GPUs   int // of a pod; only with the backend xla-cuda, whose plugin is installed beside it
}

// defaultUser is the user and the group of pods: an ID to which nothing belongs on any system.
const defaultUser = 65532

// completionLimit is the largest number of indexes that a Job may have without bounding how many of them fail.
const completionLimit = 100_000

var (
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	dnsName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	image      = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]{0,511}$`)
	kubeMemory = regexp.MustCompile(`^[1-9][0-9]{0,14}(Ki|Mi|Gi|Ti|k|M|G|T)?$`)
	subPath    = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
)

// validate returns an error that names the first thing that is wrong.
func (k Kubernetes) validate() error {
	return checks(
		gridName(k.Grid), printables("a flag", k.Flags),
		k.checkName(),
		required("the image", k.Image), matching("the image", k.Image, image, "the name of one"),
		required("the volume claim", k.Claim), matching("the volume claim", k.Claim, dnsName, "the name of one"),
		matching("the path in the volume", k.Path, subPath, "a path of plain names without .. that does not begin with a slash"),
		matching("the claim of the data", k.DataClaim, dnsName, "the name of one"),
		between("the user's ID", cmp.Or(k.User, defaultUser), 1, math.MaxInt32),
		between("the group's ID", cmp.Or(k.Group, defaultUser), 1, math.MaxInt32),
		optional("XLA_FLAGS", k.XLAFlags),
		k.checkFiles(),
		between("number of shards", k.Shards, 1, completionLimit),
		between("processes of a pod", k.Jobs, 1, 1024),
		between("pods at the same time", k.Concurrent, 0, completionLimit),
		between("retries", k.Retries, 0, 1000),
		whole("grace", k.Grace, time.Second, "seconds"),
		between("grace in seconds", int(k.Grace.Seconds()), 1, 3600),
		between("processors", k.CPUs, 1, 4096),
		required("memory", k.Memory), matching("memory", k.Memory, kubeMemory, "a quantity such as 4Gi"),
		between("GPUs", k.GPUs, 0, 64),
	)
}

func required(what, text string) error {
	if text == "" {
		return fmt.Errorf("%s is missing", what)
	}
	return nil
}

// checkFiles returns an error for a file that no pod would find.
func (k Kubernetes) checkFiles() error {
	for _, f := range k.Files {
		if err := ownFile(f); err != nil {
			return err
		}
		f = path.Clean(f)
		if strings.HasPrefix(f, gridMount+"/") || k.DataClaim != "" && strings.HasPrefix(f, dataMount+"/") {
			continue
		}
		return fmt.Errorf("the grid reads from %q, which is in no volume of a pod: put it below %s, or below %s with a claim of the data", f, gridMount, dataMount)
	}
	return nil
}

// maxLabel is the length of a host's name. A pod's is the Job's name with the index.
const maxLabel = 63

func (k Kubernetes) checkName() error {
	name, longest := k.name(), maxLabel-len(fmt.Sprintf("-%d", k.Shards-1))
	switch {
	case !dnsLabel.MatchString(name):
		return fmt.Errorf("the Job's name: %q may have lower-case letters, digits and, inside, dashes", name)
	case len(name) > longest:
		return fmt.Errorf("the Job's name: %q is longer than %d characters, which is all that is left beside the index", name, longest)
	}
	return nil
}

func (k Kubernetes) name() string {
	if k.Name != "" {
		return k.Name
	}
	return jobName(k.Grid)
}

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

var kubernetesManifest = template.Must(template.New("kubernetes").Funcs(functions).Parse(kubernetesText))

// Where the volumes are in a container.
const (
	gridMount = "/grid"
	dataMount = "/data"
)

// Write writes the manifest, which is to be created with kubectl.
func (k Kubernetes) Write(w io.Writer) error {
	if err := k.validate(); err != nil {
		return err
	}
	k.Name = k.name()
	k.Concurrent = cmp.Or(k.Concurrent, k.Shards)
	k.User, k.Group = cmp.Or(k.User, defaultUser), cmp.Or(k.Group, defaultUser)
	data := dataMount
	if k.DataClaim == "" {
		data = gridMount + "/data"
	}
	return kubernetesManifest.Execute(w, struct {
		Kubernetes
		GraceSeconds                    int
		GridDir, Data, DataMount, Cache string
		JobsText                        string
	}{k, int(k.Grace.Seconds()), gridMount, data, dataMount, gridMount + "/cache", fmt.Sprint(k.Jobs)})
}
