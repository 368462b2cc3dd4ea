package tensorboard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// sample is a run of two tasks with three evaluations, and the records of two of its steps.
func sample() (*results.Run, []results.Record) {
	at := func(x float64) *float64 { return &x }
	begin := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	r := &results.Run{
		Steps: 10, A: 75, F: -12.5,
		Curve: []results.Point{
			{Step: 4, Acc: []*float64{at(0.5), nil}, Mean: 0.5},
			{Step: 7, Ended: []int{1}, Acc: []*float64{at(0.75), at(0.25)}, Mean: 0.5},
			{Step: 9, Ended: []int{2}, Acc: []*float64{at(1), at(0.5)}, Mean: 0.75},
		},
		Measured: results.Measured{Started: begin, Finished: begin.Add(20 * time.Second)},
	}
	records := []results.Record{
		{Step: 0, IDs: []int{1}, Losses: []float64{2.5}, NormD: 1.5},
		{Step: 4, IDs: []int{0, 1, 2}, Losses: []float64{0.25, 0.5, 3}, NormD: 0.75},
	}
	return r, records
}

// TestWrite reads a file back, field by field.
func TestWrite(t *testing.T) {
	r, records := sample()
	var out bytes.Buffer
	if err := write(&out, r, records); err != nil {
		t.Fatal(err)
	}
	var got []string
	for data := out.Bytes(); len(data) > 0; {
		var e []byte
		e, data = unframe(t, data)
		got = append(got, readEvent(t, e)...)
	}
	want := []string{
		"at 0 s: brain.Event:2",
		"at 2 s: step 0", "loss/task_1 = 2.5", "norm_d = 1.5",
		"at 10 s: step 4", "loss/memory = 0.25", "loss/task_1 = 0.5", "loss/task_2 = 3", "norm_d = 0.75", "A = 50",
		"accuracy/task_1 = 50",
		"at 16 s: step 7", "A = 50", "accuracy/task_1 = 75", "accuracy/task_2 = 25",
		"at 20 s: step 9", "A = 75", "accuracy/task_1 = 100", "accuracy/task_2 = 50", "F = -12.5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if name := fileName(r); name != fmt.Sprintf("events.out.tfevents.%d.pcl", r.Measured.Started.Unix()) {
		t.Errorf("the file is called %s", name)
	}
}

// TestMasked compares checksums with those that other programs give: the CRC-32C of 32 zero bytes
// is 0x8a9136aa (RFC 3720, B.4), and TensorFlow masks it by a rotation and a constant.
func TestMasked(t *testing.T) {
	c := uint32(0x8a9136aa)
	want := c>>15 + c<<17 + 0xa282ead8
	if got := masked(make([]byte, 32)); got != want {
		t.Errorf("%08x, want %08x", got, want)
	}
}

func unframe(t *testing.T, data []byte) (event, rest []byte) {
	t.Helper()
	n := binary.LittleEndian.Uint64(data)
	event, rest = data[12:12+n], data[16+n:]
	if binary.LittleEndian.Uint32(data[8:]) != masked(data[:8]) ||
		binary.LittleEndian.Uint32(data[12+n:]) != masked(event) {
		t.Fatal("a checksum is wrong")
	}
	return event, rest
}

// fields calls each for the fields of a message.
func fields(t *testing.T, b []byte, each func(number protowire.Number, value []byte)) {
	t.Helper()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		length := protowire.ConsumeFieldValue(number, kind, b)
		if length < 0 {
			t.Fatal(protowire.ParseError(length))
		}
		value := b[:length]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b)
		}
		each(number, value)
		b = b[length:]
	}
}

func readEvent(t *testing.T, b []byte) (out []string) {
	t.Helper()
	begin := ""
	fields(t, b, func(number protowire.Number, v []byte) {
		switch number {
		case 1:
			r, _ := sample()
			seconds := math.Float64frombits(binary.LittleEndian.Uint64(v)) - float64(r.Measured.Started.Unix())
			begin = fmt.Sprintf("at %g s: ", seconds)
		case 2:
			step, _ := protowire.ConsumeVarint(v)
			out = append(out, fmt.Sprintf("%sstep %d", begin, step))
		case 3:
			out = append(out, begin+string(v))
		case 5:
			fields(t, v, func(_ protowire.Number, v []byte) { out = append(out, readValue(t, v)) })
		}
	})
	return out
}

func readValue(t *testing.T, b []byte) (text string) {
	t.Helper()
	fields(t, b, func(number protowire.Number, v []byte) {
		switch number {
		case 1:
			text = string(v)
		case 2:
			text += fmt.Sprintf(" = %g", math.Float32frombits(binary.LittleEndian.Uint32(v)))
		}
	})
	return text
}

// TestRows: rows of the memory and of a penalty are no tasks.
func TestRows(t *testing.T) {
	got := scalars(&results.Run{},
		[]results.Record{{Step: 3, IDs: []int{rehearsal.PenaltyID, -2, -1, 0, 5}, Losses: []float64{1, 2, 3, 4, 5}}})[3]
	for i, want := range []string{"loss/penalty", "loss/memory_2", "loss/memory_1", "loss/memory", "loss/task_5"} {
		t.Run(want, func(t *testing.T) {
			switch {
			case got[i].tag != want:
				t.Errorf("got[i].tag is %q; want %q", got[i].tag, want)
			case got[i].value != float64(i+1):
				t.Errorf("got[i].value is %g; want %g", got[i].value, float64(i+1))
			}
		})
	}
}
