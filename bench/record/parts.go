package main

import "strings"

// part is a set of runs that one command makes.
type part struct {
	name      string
	flags     []string
	env       []string
	interrupt bool // whether to interrupt the run at its first checkpoint and then resume it
}

// parts lists what is recorded: every method in both increments, memory editing in its modes, the
// extra update, residual networks, other shapes of tasks and memory, a run that is interrupted and
// resumed, the pure Go backend, and a device whose memory is separate from the host's.
func parts(methods []string) []part {
	all := strings.Join(methods, ",")
	few := "--train-per-class=2 --batch=16 --record" // pure Go is slow
	some := "avggrad,emgd-gmc,upgrad,der-pp,maxdo-release,mir,icarl,gem"
	small := "--train-per-class=12 --batch=16 --record"
	net := "--model=resnet18 --width=4 --train-per-class=4 --batch=16 --record"
	both := " --increment=task,class"
	one := func(name, flags string) part { return part{name: name, flags: strings.Fields(flags)} }
	list := []part{
		one("methods", small+both+" --method="+all+" --backend=xla-cpu"),
		one("methods-go", few+both+" --method=emgd-gmc,upgrad,der-pp,icarl --backend=go"),
		one("sgd", small+both+" --method=emgd-gmc,avggrad --optimizer=sgd --lr=0.05 --backend=xla-cpu"),
		one("backbone", small+" --increment=class --shared=backbone --method=emgd-gmc,upgrad --backend=xla-cpu"),
		one("all", small+" --shared=all --method=emgd-gmc --backend=xla-cpu"),
		one("fixed-total", small+both+
			" --memory-policy=fixed_total --memory=100 --method=emgd-gmc,der-pp,gss --backend=xla-cpu"),
		one("epochs", small+" --epochs=2 --kind=serial --method=emgd-gmc,er --backend=xla-cpu --eval-every=5"),
		one("at-once", small+" --kind=all_at_once --method=emgd-gmc --backend=xla-cpu"),
		one("extra-update", small+both+" --extra-update --method=emgd-gmc --backend=xla-cpu"),
		one("bfloat16", small+" --precision=bfloat16 --method=emgd-gmc --backend=xla-cpu"),
		one("resnet", net+both+" --method=emgd-gmc,avggrad --backend=xla-cpu"),
		one("resnet-release", net+" --release --method=emgd-gmc --backend=xla-cpu"),
		one("resnet-go", few+" --model=resnet18 --width=2 --kind=all_at_once --method=emgd-gmc --backend=go"),
		one("resnet-edit", net+" --edit=0.01 --method=emgd-gmc --backend=xla-cpu"),
		one("arrays", small+" --record-arrays=2 --method=emgd-gmc --backend=xla-cpu"),
	}
	for _, flags := range []string{
		"--edit=0.03", "--edit=0.03 --edit-at=post", "--edit=0.03 --edit-mode=per_sample",
		"--edit=0.03 --edit-max-drift=0.05 --edit-norm=l2", "--edit=0.03 --edit-aim=ascend --edit-target=mean",
		"--edit=0.03 --edit-aim=literal --edit-norm=raw --edit-every=2", "--edit=0.03 --extra-update",
	} {
		list = append(list, one("edit", small+both+" --method=emgd-gmc "+flags+" --backend=xla-cpu"))
		list = append(list, one("edit-go", few+" --method=emgd-gmc "+flags+" --backend=go"))
	}
	for _, method := range []string{"emgd-gmc", "der-pp", "famo"} {
		p := one("resume", small+" --edit=0.03 --epochs=4 --checkpoint-every=5 --backend=xla-cpu --method="+method)
		p.interrupt = true
		list = append(list, p)
	}
	separate := one("separate", small+both+" --method="+some+" --backend=xla-cpu")
	separateEdit := one("separate-edit", small+" --edit=0.03 --method=emgd-gmc --backend=xla-cpu")
	separateNet := one("separate-resnet", net+" --method=emgd-gmc --backend=xla-cpu")
	for _, p := range []part{separate, separateEdit, separateNet} {
		p.env = []string{"PARALLELCL_SEPARATE_MEMORY=1"}
		list = append(list, p)
	}
	return list
}
