package report

import "fmt"

// once leaves out runs that are there twice: of equal experiments with equal seeds and equal networks, which may have been
// evaluated more often, the one with the most evaluations stays. A mean would count such a run twice. The remarks say
// which were left out, and which have the same experiment and seed, but another network.
func once(files []RunFile) (kept []RunFile, remarks []remark) {
	type repetition struct {
		situation
		setting, method string
		seed            uint64
	}
	first := map[repetition]int{}
	for _, f := range files {
		r := f.Run
		key := repetition{situationOf(r), fmt.Sprint(settingConfig(r)), r.Method + " " + r.ParamText(), r.Seed}
		i, met := first[key]
		switch {
		case !met || r.ModelSHA256 == "":
			first[key] = len(kept)
			kept = append(kept, f)
		case kept[i].Run.ModelSHA256 != r.ModelSHA256:
			kept = append(kept, f)
			remarks = append(remarks, remark{r.Name(), "Another run here has the same settings and seed, and another network: one of them may have been made by another program or on another device. Means count both."})
		default:
			remarks = append(remarks, remark{r.Name(), "This run is here twice, with the same settings, seed and network. It is counted once."})
			if len(r.Curve) > len(kept[i].Run.Curve) {
				kept[i] = f
			}
		}
	}
	return kept, remarks
}
