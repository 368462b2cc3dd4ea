package deploy_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/deploy"
	"github.com/parallelcl/parallelcl/internal/must"
)

func shop() deploy.Service {
	return deploy.Service{
		Name: "shop", Image: "registry.example/lab/learner:1.0", Claim: "shop", User: "65532:65532", CPUs: 2, Memory: "2Gi",
		Grace: 2 * time.Minute,
	}
}

func TestServiceGolden(t *testing.T) {
	text := func(s deploy.Service) string {
		var out bytes.Buffer
		must.Do(t, s.Write(&out))
		return out.String()
	}
	golden(t, "service.yaml", text(shop()))
	s := shop()
	s.Secret, s.Args, s.User, s.CPUs, s.Memory = "shop-tokens", []string{"-inputs=784", awkwardName}, "1000:100", 4, "16Gi"
	golden(t, "service-tokens.yaml", text(s))
}

func TestServiceRefused(t *testing.T) {
	for name, change := range map[string]func(*deploy.Service){
		"no name":         func(s *deploy.Service) { s.Name = "" },
		"capitals":        func(s *deploy.Service) { s.Name = "Shop" },
		"a path":          func(s *deploy.Service) { s.Name = "a/b" },
		"a dash at last":  func(s *deploy.Service) { s.Name = "shop-" },
		"a long name":     func(s *deploy.Service) { s.Name = string(bytes.Repeat([]byte("a"), 64)) },
		"the user root":   func(s *deploy.Service) { s.User = "0:0" },
		"a user's name":   func(s *deploy.Service) { s.User = "me" },
		"two lines in it": func(s *deploy.Service) { s.Name = "a\nb" },
	} {
		t.Run(name, func(t *testing.T) {
			s := shop()
			change(&s)
			if err := s.Write(new(bytes.Buffer)); err == nil {
				t.Error("no error")
			}
		})
	}
}
