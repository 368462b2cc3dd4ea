package serve

import "errors"

// errRoom is the answer to a request for whose samples the service has no room.
var errRoom = errors.New("the samples of the requests in progress take all memory that they may (Options.MaxBuffered): send fewer at once, or try again")

// room is what a request takes of the memory that all requests in progress may take.
type room struct {
	service *Service
	taken   int64
}

func (s *Service) room() *room { return &room{service: s} }

// take takes bytes, or returns errRoom.
func (r *room) take(bytes int64) error {
	if r.service.buffered.Add(bytes) > r.service.options.MaxBuffered {
		r.service.buffered.Add(-bytes)
		return errRoom
	}
	r.taken += bytes
	return nil
}

// give gives bytes back.
func (r *room) give(bytes int64) {
	r.service.buffered.Add(-bytes)
	r.taken -= bytes
}

// leave gives back what the request has.
func (r *room) leave() { r.give(r.taken) }
