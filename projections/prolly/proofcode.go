package prolly

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// proofVersion is the first byte of a proof's binary form.
const proofVersion = 1

// AppendBinary appends the binary form, which the package comment describes.
func (p *Proof) AppendBinary(b []byte) ([]byte, error) {
	if err := p.form(); err != nil {
		return b, fmt.Errorf("encode proof: %w", err)
	}
	b = append(b, proofVersion, byte(len(p.Path)), byte(len(p.Left)))
	b = binary.AppendUvarint(b, p.Count)
	err := p.steps(func(s *Step, level uint8, _, _ int) error {
		b = append(b, byte(s.Entries), byte(s.Index), byte(len(s.Shown)))
		for i := range s.Shown {
			b = s.Shown[i].append(b, level)
		}
		for i := range s.Siblings {
			b = append(b, s.Siblings[i][:]...)
		}
		return nil
	})
	return b, err
}

func (s *Shown) append(b []byte, level uint8) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(s.Key))), s.Key...)
	switch {
	case level > 0:
		return binary.AppendUvarint(append(b, s.Hash[:]...), s.Count)
	case s.Hash != nil:
		return append(append(b, longValue), s.Hash[:]...)
	}
	return append(append(b, byte(len(s.Value))), s.Value...)
}

// MarshalBinary returns the binary form.
func (p *Proof) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// UnmarshalBinary decodes the binary form, and only the form that encodes to the same bytes again.
func (p *Proof) UnmarshalBinary(data []byte) error {
	r := proofReader{rest: bytes.Clone(data)}
	read, err := r.proof()
	if err == nil && len(r.rest) > 0 {
		err = fmt.Errorf("%d bytes behind the end", len(r.rest))
	}
	if err != nil {
		return fmt.Errorf("decode proof: %w", err)
	}
	*p = *read
	return nil
}

type proofReader struct{ rest []byte }

func (r *proofReader) proof() (*Proof, error) {
	head, err := r.bytes(3)
	if err != nil {
		return nil, err
	}
	path, branch := int(head[1]), int(head[2])
	if head[0] != proofVersion {
		return nil, fmt.Errorf("version %d, want %d", head[0], proofVersion)
	}
	if path+branch > maxLevel+1 {
		return nil, fmt.Errorf("%d levels, more than %d", path+branch, maxLevel+1)
	}
	p := &Proof{}
	if p.Count, err = r.uvarint(); err != nil {
		return nil, err
	}
	p.Path, p.Left, p.Right = make([]Step, path), make([]Step, branch), make([]Step, branch)
	if err := p.steps(func(s *Step, level uint8, _, _ int) error { return r.step(s, level) }); err != nil {
		return nil, err
	}
	return p, p.form()
}

func (r *proofReader) step(s *Step, level uint8) error {
	head, err := r.bytes(3)
	if err != nil {
		return err
	}
	s.Entries, s.Index = int(head[0]), int(head[1])
	shown := int(head[2])
	if s.Entries < 1 || s.Entries > MaxEntries || shown > 2 || s.Index+max(1, shown) > s.Entries {
		return fmt.Errorf("%d entries from %d shown of %d", shown, s.Index, s.Entries)
	}
	for range shown {
		e, err := r.shown(level)
		if err != nil {
			return err
		}
		s.Shown = append(s.Shown, e)
	}
	s.Siblings = make([]Hash, siblings(0, s.Entries, s.Index, s.Index+max(1, shown)))
	for i := range s.Siblings {
		if s.Siblings[i], err = r.hash(); err != nil {
			return err
		}
	}
	return nil
}

func (r *proofReader) shown(level uint8) (s Shown, err error) {
	length, err := r.uvarint()
	if err != nil {
		return s, err
	}
	if length > MaxKey {
		return s, fmt.Errorf("a key of %d bytes, more than %d", length, MaxKey)
	}
	if s.Key, err = r.bytes(int(length)); err != nil {
		return s, err
	}
	form := []byte{longValue}
	if level == 0 {
		if form, err = r.bytes(1); err != nil {
			return s, err
		}
	}
	if form[0] < longValue {
		s.Value, err = r.bytes(int(form[0]))
		return s, err
	}
	if form[0] > longValue {
		return s, fmt.Errorf("a value of %d bytes, want its hash", form[0])
	}
	h, err := r.hash()
	if s.Hash = &h; err == nil && level > 0 {
		s.Count, err = r.uvarint()
	}
	return s, err
}

func (r *proofReader) bytes(n int) ([]byte, error) {
	if n > len(r.rest) {
		return nil, errShort
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b, nil
}

func (r *proofReader) hash() (h Hash, err error) {
	b, err := r.bytes(len(h))
	copy(h[:], b)
	return h, err
}

func (r *proofReader) uvarint() (uint64, error) {
	v, size := uvarint(r.rest)
	if size == 0 {
		return 0, errors.New("no shortest uvarint")
	}
	r.rest = r.rest[size:]
	return v, nil
}

// proofFields is Proof without its methods.
type proofFields Proof

// MarshalJSON returns the JSON form: the fields, with bytes in base64 and hashes in hexadecimal.
func (p *Proof) MarshalJSON() ([]byte, error) {
	if err := p.form(); err != nil {
		return nil, fmt.Errorf("encode proof: %w", err)
	}
	return json.Marshal((*proofFields)(p))
}

// UnmarshalJSON decodes the JSON form. Unknown fields and malformed proofs are errors.
func (p *Proof) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var read proofFields
	err := d.Decode(&read)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more behind the end")
		}
	}
	if err == nil {
		err = (*Proof)(&read).form()
	}
	if err != nil {
		return fmt.Errorf("decode proof: %w", err)
	}
	*p = Proof(read)
	return nil
}
