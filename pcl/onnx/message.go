package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the messages in ONNX's onnx.proto3.
const (
	modelIRVersion = 1
	modelProducer  = 2
	modelGraph     = 7
	modelOpset     = 8
	modelMetadata  = 14

	opsetDomain  = 1
	opsetVersion = 2
	entryKey     = 1
	entryValue   = 2

	graphNode        = 1
	graphName        = 2
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12

	nodeInput     = 1
	nodeOutput    = 2
	nodeName      = 3
	nodeOp        = 4
	nodeAttribute = 5

	attributeName  = 1
	attributeFloat = 2
	attributeInt   = 3
	attributeInts  = 8
	attributeType  = 20
	typeFloat      = 1
	typeInt        = 2
	typeInts       = 7

	tensorDims = 1
	tensorType = 2
	tensorName = 8
	tensorRaw  = 9
	float32s   = 1
	uint8s     = 2
	int64s     = 7

	infoName        = 1
	infoType        = 2
	typeTensor      = 1
	tensorElement   = 1
	tensorShape     = 2
	shapeDim        = 1
	dimValue        = 1
	dimParam        = 2
	anyNumberOfRows = "N"
)

// message is a message of protocol buffers.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) number(field protowire.Number, n int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
}

func (m *message) float(field protowire.Number, x float32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), math.Float32bits(x))
}

// tensor is a constant of float32 or int64.
func tensor(name string, dims []int, values any) []byte {
	kind := float32s
	if _, whole := values.([]int64); whole {
		kind = int64s
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, values) // of numbers there is no error
	var m message
	for _, d := range dims {
		m.number(tensorDims, d)
	}
	m.number(tensorType, kind)
	m.text(tensorName, name)
	m.bytes(tensorRaw, raw)
	return m
}

// valueInfo describes an input or output with any number of rows.
func valueInfo(name string, element int, dims ...int) []byte {
	var rows, shape, of, kind, m message
	rows.text(dimParam, anyNumberOfRows)
	shape.bytes(shapeDim, rows)
	for _, d := range dims {
		var dim message
		dim.number(dimValue, d)
		shape.bytes(shapeDim, dim)
	}
	of.number(tensorElement, element)
	of.bytes(tensorShape, shape)
	kind.bytes(typeTensor, of)
	m.text(infoName, name)
	m.bytes(infoType, kind)
	return m
}

// attribute sets an option of a node.
type attribute func(*message)

func ints(name string, values ...int) attribute {
	return func(m *message) {
		m.text(attributeName, name)
		for _, v := range values {
			m.number(attributeInts, v)
		}
		m.number(attributeType, typeInts)
	}
}

func integer(name string, value int) attribute {
	return func(m *message) {
		m.text(attributeName, name)
		m.number(attributeInt, value)
		m.number(attributeType, typeInt)
	}
}

func float(name string, value float32) attribute {
	return func(m *message) {
		m.text(attributeName, name)
		m.float(attributeFloat, value)
		m.number(attributeType, typeFloat)
	}
}
