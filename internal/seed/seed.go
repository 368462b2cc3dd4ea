// Package seed derives independent sources of random numbers from the one seed of a run. The state
// of a source can be saved. Begin with [New].
package seed

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// Source is a random generator whose state can be saved and restored.
type Source struct {
	*rand.Rand
	pcg *rand.PCG
}

// New returns the source of random numbers for one purpose in a run, for example New(1234,
// "shuffle", 3). Different purposes or indices give unrelated sequences.
func New(run uint64, purpose string, index ...int) *Source {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	for _, i := range index {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	}
	pcg := rand.NewPCG(run, h.Sum64())
	return &Source{Rand: rand.New(pcg), pcg: pcg}
}

// MarshalBinary returns the state of the source.
func (s *Source) MarshalBinary() ([]byte, error) { return s.pcg.MarshalBinary() }

// UnmarshalBinary restores a state that MarshalBinary returned.
func (s *Source) UnmarshalBinary(data []byte) error {
	pcg := new(rand.PCG)
	if err := pcg.UnmarshalBinary(data); err != nil {
		return err
	}
	s.pcg, s.Rand = pcg, rand.New(pcg)
	return nil
}

// Mark returns the state of the source, at less cost than MarshalBinary, for Return.
func (s *Source) Mark() rand.PCG { return *s.pcg }

// Return goes back to a state that Mark returned.
func (s *Source) Return(mark rand.PCG) { *s.pcg = mark }
