package deploy

import (
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"text/template"
	"time"
)

// Service describes a Kubernetes Deployment of the program examples/service, or of one of your own
// that takes the same flags, and the Service by which others reach it. The tags make flags of pcl
// deploy.
type Service struct {
	Name   string        `arg:"" help:"Name of the deployment and the service: small letters, digits and -."`
	Image  string        `required:"" placeholder:"NAME" help:"Container image with the service; deploy/Containerfile makes one (--target service)."`
	Claim  string        `required:"" placeholder:"NAME" help:"Persistent volume claim for the learner and its journal."`
	Secret string        `placeholder:"NAME" help:"Secret with the key tokens, a line SCOPE SECRET for each token (default: no tokens, so that everybody who reaches the service may do all)."`
	Args   []string      `name:"arg" placeholder:"ARG" sep:"none" help:"More arguments of the service, such as --arg=-inputs=784."`
	User   string        `default:"65532:65532" placeholder:"UID:GID" help:"User and group of the pod (default ${default})."`
	CPUs   int           `range:"whole [1,1024]" name:"cpus" default:"2" placeholder:"N" help:"Processors of the pod (default ${default})."`
	Memory string        `default:"2Gi" placeholder:"SIZE" help:"Memory of the pod (default ${default})."`
	Grace  time.Duration `default:"2m" placeholder:"TIME" help:"How long the pod may take to save its learner before it is killed (default ${default})."`
}

//go:embed service.yaml.tmpl
var serviceText string

var serviceManifest = template.Must(template.New("service").Funcs(functions).Parse(serviceText))

// serviceName is what Kubernetes takes as the name of a Service.
var serviceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Write writes the manifest, for kubectl apply.
func (s Service) Write(w io.Writer) error {
	if !serviceName.MatchString(s.Name) {
		return fmt.Errorf("the name %q: want up to 63 small letters, digits and -, from a letter to a letter or digit",
			s.Name)
	}
	user, group, err := ids(s.User)
	if err != nil {
		return err
	}
	return serviceManifest.Execute(w, struct {
		Service
		UID, GID, GraceSeconds int
	}{s, user, group, int(s.Grace.Seconds())})
}
