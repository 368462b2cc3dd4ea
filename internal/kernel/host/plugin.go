//go:build cgo

package host

import "plugin"

func init() { // a program that imports package plugin is linked as a whole, which each cell would wait for where it is one
	open = func(file, function string) (func(), error) {
		p, err := plugin.Open(file)
		if err != nil {
			return nil, err
		}
		f, err := p.Lookup(function)
		if err != nil {
			return nil, err
		}
		return *f.(*func()), nil
	}
}
