package npz

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is a type of an array's entries.
type kind struct {
	size   int // bytes
	decode func([]byte) any
	// unsigned: of whole numbers that may be too large for an int64, which are negative then.
	unsigned bool
}

// values returns the entries that the bytes stand for; see [File.Read].
func (k kind) values(data []byte) (any, error) {
	values := k.decode(data)
	if whole, _ := values.([]int64); k.unsigned {
		for i, v := range whole {
			if v < 0 {
				return nil, fmt.Errorf("entry %d is %d, and whole numbers go up to %d: save labels as int64 and samples "+
					"as floats", i, uint64(v), math.MaxInt64)
			}
		}
	}
	return values, nil
}

// Decoder returns how many bytes an entry of a type has, and what reads entries, as [File.Read]
// does. The type is described as in NumPy, "<f4" say; "<bf2" is a bfloat16.
func Decoder(descr string) (size int, decode func(data []byte) (any, error), err error) {
	k, err := kindOf(descr)
	return k.size, k.values, err
}

func kindOf(descr string) (kind, error) {
	if strings.HasSuffix(descr, "O") {
		return kind{}, fmt.Errorf("its entries are Python objects, as pandas makes them of texts: save y.astype(str) " +
			"instead, or numbers as x.astype(float)")
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(descr, ">") {
		order = binary.BigEndian
	}
	name := strings.TrimLeft(descr, "<>|=")
	name = cmp.Or(longNames[name], name)
	if k, ok := numbers(order)[name]; ok {
		return k, nil
	}
	if len(name) > 1 {
		n, err := strconv.Atoi(name[1:])
		switch ok := err == nil && n >= 1 && n <= 1<<16; {
		case ok && name[0] == 'U':
			return each(4*n, func(b []byte) string { return wide(b, order) }), nil
		case ok && name[0] == 'S':
			return each(n, func(b []byte) string { return strings.TrimRight(string(b), "\x00") }), nil
		}
	}
	return kind{}, fmt.Errorf("entries of type %q: want whole numbers, floats, truth values or texts", descr)
}

// longNames are what Python calls the types of numbers.
var longNames = map[string]string{
	"bool": "b1", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
	"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
	"float16": "f2", "float32": "f4", "float64": "f8",
}

// numbers returns the types of numbers by their letter and size.
func numbers(order binary.ByteOrder) map[string]kind {
	u8 := each(8, func(b []byte) int64 { return int64(order.Uint64(b)) })
	u8.unsigned = true
	return map[string]kind{
		"b1":  each(1, func(b []byte) int64 { return min(int64(b[0]), 1) }), // any byte but 0 is true
		"u1":  {size: 1, decode: func(b []byte) any { return b }},
		"u2":  each(2, func(b []byte) int64 { return int64(order.Uint16(b)) }),
		"u4":  each(4, func(b []byte) int64 { return int64(order.Uint32(b)) }),
		"u8":  u8,
		"i1":  each(1, func(b []byte) int64 { return int64(int8(b[0])) }),
		"i2":  each(2, func(b []byte) int64 { return int64(int16(order.Uint16(b))) }),
		"i4":  each(4, func(b []byte) int64 { return int64(int32(order.Uint32(b))) }),
		"i8":  each(8, func(b []byte) int64 { return int64(order.Uint64(b)) }),
		"f2":  each(2, func(b []byte) float32 { return half(order.Uint16(b)) }),
		"bf2": each(2, func(b []byte) float32 { return math.Float32frombits(uint32(order.Uint16(b)) << 16) }),
		"f4":  each(4, func(b []byte) float32 { return math.Float32frombits(order.Uint32(b)) }),
		"f8":  each(8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }),
	}
}

func each[T any](size int, one func([]byte) T) kind {
	return kind{size: size, decode: func(data []byte) any {
		out := make([]T, len(data)/size)
		for i := range out {
			out[i] = one(data[i*size : (i+1)*size])
		}
		return out
	}}
}

// wide decodes a text of four bytes for each character, padded with zeros. A code that is not a
// character leaves a text that is not valid UTF-8, which callers refuse.
func wide(b []byte, order binary.ByteOrder) string {
	var s strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		c := order.Uint32(b)
		if !utf8.ValidRune(rune(c)) {
			s.WriteByte(0xff)
		} else if c != 0 {
			s.WriteRune(rune(c))
		}
	}
	return s.String()
}

// half is the number that the bits of a float16 stand for. They have places of their own in a
// float32, whose exponent counts from another number.
func half(bits uint16) float32 {
	inside := uint32(bits&0x7fff) << 13
	x := math.Float32frombits(inside) * 0x1p112
	if x >= 1<<16 { // infinite, or not a number
		x = math.Float32frombits(inside | 0x7f800000)
	}
	return math.Float32frombits(math.Float32bits(x) | uint32(bits>>15)<<31)
}
