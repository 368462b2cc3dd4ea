package features

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A pickle is a program for a small machine, and a general reader would call what it names. This
// one knows only the instructions with which PyTorch writes the tensors of a network, and calls
// nothing: of the values that a program makes it keeps numbers, texts, lists, and where tensors
// lie.

// Values of a pickle, beside int, bool, string and nil.
type (
	global string // a name in a Python module
	mark   struct{}
	tuple  []any
	list   struct{ items []any }
	dict   struct{ keys, values []any }
	stored struct { // a part of a file with the values of a tensor
		kind global
		key  string
		size int
	}
	view struct { // a tensor
		of      stored
		shape   []int
		strides []int // how far apart neighbours along each axis are
	}
)

// known are the names that a pickle may mention.
var known = map[global]bool{
	ordered: true, rebuild: true, floatStorage: true, longStorage: true,
}

const (
	ordered      global = "collections OrderedDict"
	rebuild      global = "torch._utils _rebuild_tensor_v2"
	floatStorage global = "torch FloatStorage"
	longStorage  global = "torch LongStorage"
)

// unpickler is the machine.
type unpickler struct {
	in    *bufio.Reader
	stack []any
	memo  map[int]any
}

// errPickle ends the errors about what a pickle asks for.
var errPickle = errors.New("it is not a file of weights as PyTorch wrote them before version 1.6, or is damaged; " +
	"nothing in it was executed")

// unpickle reads one pickle. A text that is damaged may make the machine take a value of a wrong
// type, which is an error as well.
func unpickle(in *bufio.Reader) (any, error) {
	u := &unpickler{in: in, memo: map[int]any{}}
	for {
		op, err := in.ReadByte()
		if err != nil {
			return nil, cut(err)
		}
		if op == '.' {
			return u.pop()
		}
		if err := u.do(op); err != nil {
			return nil, err
		}
		if len(u.stack) > maxPickle || len(u.memo) > maxPickle {
			return nil, fmt.Errorf("a pickle of more than %d values: %w", maxPickle, errPickle)
		}
	}
}

const maxPickle = 1 << 16 // values; the file of EfficientNet-Lite0 has 2,651

// cut is the error of a file that ends too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early: it was not copied or downloaded completely")
	}
	return err
}

// do carries out one instruction.
func (u *unpickler) do(op byte) error {
	switch op {
	case 0x80: // the protocol
		return u.skip(1)
	case '}':
		u.push(&dict{})
	case ']':
		u.push(&list{})
	case ')':
		u.push(tuple{})
	case '(':
		u.push(mark{})
	case 'N':
		u.push(nil)
	case 0x88, 0x89:
		u.push(op == 0x88)
	case 'K', 'M', 'J', 0x8a, 'X':
		return u.literal(op)
	case 'q', 'r', 'h', 'j':
		return u.remember(op)
	case 'c':
		return u.name()
	case 't', 0x85, 0x86, 0x87:
		return u.tuple(op)
	case 's', 'u', 'e', 'b':
		return u.fill(op)
	case 'Q':
		return u.storage()
	case 'R':
		return u.reduce()
	default:
		return fmt.Errorf("instruction 0x%02x of a pickle: %w", op, errPickle)
	}
	return nil
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) pop() (any, error) {
	if len(u.stack) == 0 {
		return nil, errPickle
	}
	v := u.stack[len(u.stack)-1]
	u.stack = u.stack[:len(u.stack)-1]
	return v, nil
}

// marked takes what lies above the last mark.
func (u *unpickler) marked() ([]any, error) {
	for i := len(u.stack) - 1; i >= 0; i-- {
		if (u.stack[i] == mark{}) {
			above := append([]any(nil), u.stack[i+1:]...)
			u.stack = u.stack[:i]
			return above, nil
		}
	}
	return nil, errPickle
}

func (u *unpickler) skip(n int) error {
	_, err := u.in.Discard(n)
	return cut(err)
}

// number reads a whole number of n bytes.
func (u *unpickler) number(n int) (int, error) {
	var b [4]byte
	_, err := io.ReadFull(u.in, b[:n])
	return int(int32(binary.LittleEndian.Uint32(b[:]))), cut(err)
}

// literal pushes a number or a text.
func (u *unpickler) literal(op byte) error {
	n, err := u.number(map[byte]int{'K': 1, 'M': 2, 'J': 4, 0x8a: 1, 'X': 4}[op])
	if err != nil {
		return err
	}
	switch op {
	case 0x8a: // a long number: only that at the beginning, whose value says nothing
		u.push(0)
		return u.skip(n)
	case 'X':
		if n < 0 || n > maxPickle {
			return fmt.Errorf("a text of %d bytes: %w", n, errPickle)
		}
		text := make([]byte, n)
		_, err = io.ReadFull(u.in, text)
		u.push(string(text))
		return cut(err)
	}
	u.push(n)
	return nil
}

// remember puts the top of the stack into the memo, or pushes what is there.
func (u *unpickler) remember(op byte) error {
	long := map[byte]int{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op]
	n, err := u.number(long)
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' {
		v, ok := u.memo[n]
		if !ok {
			return errPickle
		}
		u.push(v)
		return nil
	}
	v, err := u.pop()
	u.push(v)
	u.memo[n] = v
	return err
}

// name pushes the name of something in a Python module, if it is one of those that are known.
func (u *unpickler) name() error {
	var parts [2]string
	for i := range parts {
		line, err := u.in.ReadSlice('\n')
		if err != nil {
			return cut(err)
		}
		parts[i] = string(line[:len(line)-1])
	}
	g := global(parts[0] + " " + parts[1])
	if !known[g] {
		return fmt.Errorf("a pickle names %q, which no weights need: %w", parts[0]+"."+parts[1], errPickle)
	}
	u.push(g)
	return nil
}

// tuple makes a tuple of what lies above the mark, or of one to three values.
func (u *unpickler) tuple(op byte) error {
	if op == 't' {
		items, err := u.marked()
		u.push(tuple(items))
		return err
	}
	n := int(op) - 0x84
	if len(u.stack) < n {
		return errPickle
	}
	items := append(tuple(nil), u.stack[len(u.stack)-n:]...)
	u.stack = append(u.stack[:len(u.stack)-n], items)
	return nil
}

// fill adds entries to a dictionary or to a list. A dictionary's attributes, which PyTorch adds,
// say nothing about tensors.
func (u *unpickler) fill(op byte) error {
	var items []any
	var err error
	switch {
	case op == 'u' || op == 'e':
		items, err = u.marked()
	case op == 's' && len(u.stack) > 1:
		items = append(items, u.stack[len(u.stack)-2:]...)
		u.stack = u.stack[:len(u.stack)-2]
	case op == 'b':
		_, err = u.pop()
	}
	if err != nil || len(u.stack) == 0 {
		return errPickle
	}
	switch top := u.stack[len(u.stack)-1].(type) {
	case *list:
		top.items = append(top.items, items...)
	case *dict:
		if len(items)%2 != 0 {
			return errPickle
		}
		for i := 0; i < len(items); i += 2 {
			top.keys, top.values = append(top.keys, items[i]), append(top.values, items[i+1])
		}
	default:
		return errPickle
	}
	return nil
}

// storage pushes the place of some values.
func (u *unpickler) storage() error {
	v, err := u.pop()
	t, ok := v.(tuple)
	if err != nil || !ok || len(t) != 6 {
		return errPickle
	}
	kind, ok1 := t[1].(global)
	key, ok2 := t[2].(string)
	size, ok3 := t[4].(int)
	if t[0] != "storage" || !ok1 || !ok2 || !ok3 || t[5] != nil || size < 0 ||
		kind != floatStorage && kind != longStorage {
		return errPickle
	}
	u.push(stored{kind, key, size})
	return nil
}

// reduce makes one of the two things that a call can make here: an empty dictionary, and a tensor.
func (u *unpickler) reduce() error {
	a, err := u.pop()
	f, err2 := u.pop()
	args, ok := a.(tuple)
	switch {
	case errors.Join(err, err2) != nil || !ok:
		return errPickle
	case f == ordered && len(args) == 0:
		u.push(&dict{})
		return nil
	case f != rebuild || len(args) != 6:
		return fmt.Errorf("a pickle calls %v: %w", f, errPickle)
	}
	of, ok1 := args[0].(stored)
	shape, ok2 := whole(args[2])
	strides, ok3 := whole(args[3])
	if !ok1 || !ok2 || !ok3 || len(shape) != len(strides) {
		return errPickle
	}
	last, size := 0, 1
	for i, n := range shape {
		last, size = last+(n-1)*strides[i], size*n
		if n < 1 || strides[i] > of.size || size > of.size {
			return errPickle
		}
	}
	if args[1] != 0 || size != of.size || last != size-1 { // it is all that is stored, in any order of its axes
		return errPickle
	}
	u.push(view{of, shape, strides})
	return nil
}

// whole returns the numbers of a tuple, each of which is 0 to a million.
func whole(v any) (n []int, ok bool) {
	t, ok := v.(tuple)
	for _, x := range t {
		i, number := x.(int)
		if !number || i < 0 || i > 1<<20 {
			return nil, false
		}
		n = append(n, i)
	}
	return n, ok
}
