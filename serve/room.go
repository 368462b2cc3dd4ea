package serve

import "errors"

// errRoom is the answer to a request for which the service has no room.
var errRoom = errors.New("the requests in progress take all memory that they may (Options.MaxBuffered): send fewer at once, or try again")

// freeRoom is how many bytes each request may take without being counted, so that small ones are served also while large
// ones take all there is. The number of connections bounds it.
const freeRoom = 16 << 10

// room is what a request takes of the memory that all requests in progress may take.
type room struct {
	service *Service
	taken   int
}

// hold makes the request take so many bytes in place of those that it had. It returns errRoom, and changes nothing, if all
// requests would then take more than most.
func (r *room) hold(bytes, most int) error {
	more := int64(max(0, bytes-freeRoom) - max(0, r.taken-freeRoom))
	if r.service.buffered.Add(more) > int64(most) && more > 0 {
		r.service.buffered.Add(-more)
		return errRoom
	}
	r.taken = bytes
	return nil
}

// take takes more bytes; below 0 it gives bytes back.
func (r *room) take(bytes int) error {
	return r.hold(r.taken+bytes, r.service.options.MaxBuffered)
}

// leave gives back what the request has.
func (r *room) leave() { _ = r.hold(0, 0) }
