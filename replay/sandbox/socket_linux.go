package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is the init's end of a pair that passes whole messages and files. It is never closed, so
// that its number is enough.
type socket int

// hostSocket is the host's end. It knows who uses it: once it is closed, nobody who still wanted to
// receive or send does so with the same number, which by then may be the socket of another sandbox.
type hostSocket struct {
	file *os.File
	raw  syscall.RawConn
}

// socketPair makes both ends. Neither is inherited unless it is asked for.
func socketPair() (host *hostSocket, inside *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("sandbox: make a socket: %w", err)
	}
	inside = os.NewFile(uintptr(fds[1]), "control")
	err = unix.SetNonblock(fds[0], true) // for the runtime's poller: closing wakes who waits
	file := os.NewFile(uintptr(fds[0]), "sandbox")
	var raw syscall.RawConn
	if err == nil {
		raw, err = file.SyscallConn()
	}
	if err != nil {
		_, _ = file.Close(), inside.Close() // the error at hand says more
		return nil, nil, fmt.Errorf("sandbox: make a socket: %w", err)
	}
	return &hostSocket{file, raw}, inside, nil
}

// send passes a message and files. The error is os.ErrClosed once the socket is closed.
func (h *hostSocket) send(v any, files ...int) error {
	var err error
	if closed := h.raw.Write(func(fd uintptr) bool {
		err = socket(fd).send(v, files...)
		return err != unix.EAGAIN
	}); closed != nil {
		return os.ErrClosed // there is no other reason, and it has no name
	}
	return err
}

// receive waits for a message. The error is io.EOF if the other end is closed, and os.ErrClosed if
// this one is.
func (h *hostSocket) receive(v any) error {
	var err error
	if closed := h.raw.Read(func(fd uintptr) bool {
		_, err = socket(fd).receive(v)
		return err != unix.EAGAIN
	}); closed != nil {
		return os.ErrClosed // there is no other reason, and it has no name
	}
	return err
}

// close wakes a receive that waits. Closing again does nothing.
func (h *hostSocket) close() { _ = h.file.Close() }

func (s socket) send(v any, files ...int) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for {
		err = unix.Sendmsg(int(s), b, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// receive waits for a message. The error is io.EOF if the other end is closed.
func (s socket) receive(v any) (files []int, err error) {
	b, oob := make([]byte, 256<<10), make([]byte, unix.CmsgSpace(4*4))
	var n, oobn int
	for {
		n, oobn, _, _, err = unix.Recvmsg(int(s), b, oob, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.ECONNRESET || err == nil && n == 0 {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		files = append(files, got...)
	}
	return files, json.Unmarshal(b[:n], v)
}
