// Package wire reads and writes Kafka's wire format: frames of requests and responses, record
// batches of format 2, the records in them, and the five codecs. Its functions have no state and know
// nothing of topics or of a store; all a caller may rely on is in their arguments.
//
// Bytes come from strangers. Decoding a frame or a batch of any content takes memory and time in
// proportion to its size, except for decompression, which is limited for all callers together
// (decompress.go) and for each address (UnpackLimiter), and it does not panic.
//
//   - frame.go: requests and responses, with the header before them; arrays.go bounds what decoding
//     one may allocate.
//   - batch.go: the header of a batch, its checksum, and CheckBatch, which a produced batch has to pass.
//   - records.go: walking the records of a batch.
//   - encode.go, merge.go, rewrite.go: making a batch, making one of several, replacing its records.
//   - compress.go, decompress.go, unpacklimiter.go: the codecs and their limits.
package wire
