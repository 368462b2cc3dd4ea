//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
)

// errNoViews is the state of a program that was built with another version of the binding.
var errNoViews = errors.New("this version of the XLA binding gives no access to its clients, so that they cannot share memory: open one client")

// View returns a buffer of the client on whose memory is that of a buffer of another client: nothing is
// copied, and reading it costs what reading one's own buffer does. Both clients must share memory with
// the host.
//
// The view has to be finalised before the other buffer is, and before that one is donated to a program:
// nothing else keeps the memory. It must not be donated itself.
func View(on compute.Backend, of compute.Buffer) (compute.Buffer, error) {
	client, ok := Client(on).(*xla.Backend)
	owner, same := of.Backend().(*xla.Backend)
	if !ok || !same || !client.HasSharedBuffers() || !owner.HasSharedBuffers() {
		return nil, fmt.Errorf("a buffer of backend %s cannot be read in place by %s", of.Backend().Name(), on.Name())
	}
	shape, err := of.Shape()
	if err != nil {
		return nil, err
	}
	flat, err := of.Data()
	if err != nil {
		return nil, err
	}
	c := member[*pjrt.Client](client, "client")
	if c == nil {
		return nil, errNoViews
	}
	memory := reflect.ValueOf(flat).UnsafePointer()
	buffer, err := (*c).CreateViewOfDeviceBuffer(memory, shape.DType, shape.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("view of a buffer of shape %s: %w", shape, err)
	}
	view := new(xla.Buffer)
	*member[*xla.Backend](view, "backend") = client
	*member[*pjrt.Buffer](view, "pjrtBuffer") = buffer
	// As long as the view can be reached, so can the buffer whose memory it shows: the collector frees none.
	runtime.AddCleanup(view, func(compute.Buffer) {}, of)
	return view, nil
}

// viewable is an error where [View] would not find what it needs.
func viewable() error {
	if member[*pjrt.Client](new(xla.Backend), "client") == nil ||
		member[*xla.Backend](new(xla.Buffer), "backend") == nil || member[*pjrt.Buffer](new(xla.Buffer), "pjrtBuffer") == nil {
		return errNoViews
	}
	return nil
}

// member is where a field of s lies, or nil if s has none of that name and type. The binding can make
// views, but its buffers and its backends, which are all that its programs accept, keep to themselves
// what views are made from.
func member[T, S any](s *S, name string) *T {
	f, ok := reflect.TypeFor[S]().FieldByName(name)
	if !ok || f.Type != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(unsafe.Add(unsafe.Pointer(s), f.Offset))
}
