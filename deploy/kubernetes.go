package deploy

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"path"
	"strings"
	"text/template"
	"time"
)

// Kubernetes describes an Indexed Job that makes a grid. Each index makes a shard.
type Kubernetes struct {
	Job
	Files []string `kong:"-"` // files and folders outside the data folder from which the grid reads

	Image     string        `required:"" placeholder:"NAME" help:"Container image with pcl; deploy/Containerfile makes one."`
	Claim     string        `required:"" placeholder:"NAME" help:"Persistent volume claim with the grid's folder, to which many nodes can write."`
	Path      string        `placeholder:"PATH" help:"The grid's folder in that volume (default: the volume itself)."`
	DataClaim string        `placeholder:"NAME" help:"Claim with the data sets, which is only read (default: the folder data in the grid's)."`
	User      string        `default:"65532:65532" placeholder:"UID:GID" help:"User and group of the pods, who must be able to write to the volume (default ${default})."`
	Jobs      int           `range:"whole [1,1024]" short:"j" default:"1" placeholder:"N" help:"Runs that a pod makes at the same time, on one GPU or on several processors (default ${default})."`
	Grace     time.Duration `default:"2m" placeholder:"TIME" help:"How long a pod may take to save its run before it is killed (default ${default})."`
	Memory    string        `default:"4Gi" placeholder:"SIZE" help:"Memory of a pod (default ${default})."`
}

// ids are the numbers of the user and of the group. Pods do not run as root, whose number is 0.
func ids(of string) (user, group int, err error) {
	if n, err := fmt.Sscanf(of+"\n", "%d:%d\n", &user, &group); n != 2 || err != nil || user < 1 || group < 1 {
		return 0, 0, fmt.Errorf("the user %q is not UID:GID, two numbers above 0 (pods do not run as root)", of)
	}
	return user, group, nil
}

// Where the volumes are in a container.
const (
	gridMount = "/grid"
	dataMount = "/data"
)

// checkFiles returns an error for a file that no pod would find.
func (k Kubernetes) checkFiles() error {
	for _, f := range k.Files {
		at := path.Clean(f)
		if !strings.HasPrefix(at, gridMount+"/") && (k.DataClaim == "" || !strings.HasPrefix(at, dataMount+"/")) {
			return fmt.Errorf("the grid reads from %q, which is in no volume of a pod: put it below %s, or below %s with a "+
				"claim of the data", f, gridMount, dataMount)
		}
	}
	return nil
}

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

var kubernetesManifest = template.Must(template.New("kubernetes").Funcs(functions).Parse(kubernetesText))

// Write writes the manifest, which is to be created with kubectl.
func (k Kubernetes) Write(w io.Writer) error {
	user, group, err := ids(k.User)
	if err = cmp.Or(err, k.checkFiles()); err != nil {
		return err
	}
	k.Concurrent = cmp.Or(min(k.Concurrent, k.Shards), k.Shards)
	data := dataMount
	if k.DataClaim == "" {
		data = gridMount + "/data"
	}
	return kubernetesManifest.Execute(w, struct {
		Kubernetes
		Name                            string
		UID, GID, GraceSeconds          int
		GridDir, Data, DataMount, Cache string
		JobsText                        string
	}{k, k.name(), user, group, int(k.Grace.Seconds()), gridMount, data, dataMount, gridMount + "/cache",
		fmt.Sprint(k.Jobs)})
}
