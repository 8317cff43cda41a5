package broker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

// inertSettings are Kafka's topic settings that do not affect anything promised here: how files are
// split, flushed and indexed, how copies are kept, what compaction would do. Tools often set them.
// They are checked, stored and shown as set, with a documentation that begins with notInEffect.
var inertSettings = map[string]topicConfig{
	"segment.bytes":                           inertNumber(kmsg.ConfigTypeInt, "1073741824", ofFiles),
	"segment.ms":                              inertNumber(kmsg.ConfigTypeLong, "604800000", ofFiles),
	"segment.jitter.ms":                       inertNumber(kmsg.ConfigTypeLong, "0", ofFiles),
	"segment.index.bytes":                     inertNumber(kmsg.ConfigTypeInt, "10485760", ofFiles),
	"index.interval.bytes":                    inertNumber(kmsg.ConfigTypeInt, "4096", ofFiles),
	"file.delete.delay.ms":                    inertNumber(kmsg.ConfigTypeLong, "60000", ofFiles),
	"preallocate":                             inertBool("false", ofFiles),
	"flush.messages":                          inertNumber(kmsg.ConfigTypeLong, "1", ofFlushes),
	"flush.ms":                                inertNumber(kmsg.ConfigTypeLong, "0", ofFlushes),
	"min.insync.replicas":                     inertNumber(kmsg.ConfigTypeInt, "1", ofCopies),
	"unclean.leader.election.enable":          inertBool("false", ofCopies),
	"leader.replication.throttled.replicas":   inertText(kmsg.ConfigTypeList, ofCopies),
	"follower.replication.throttled.replicas": inertText(kmsg.ConfigTypeList, ofCopies),
	"compression.type":                        inertOf("producer", ofCodecs, "producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
	"compression.gzip.level":                  inertNumber(kmsg.ConfigTypeInt, "-1", ofCodecs),
	"compression.lz4.level":                   inertNumber(kmsg.ConfigTypeInt, "9", ofCodecs),
	"compression.zstd.level":                  inertNumber(kmsg.ConfigTypeInt, "3", ofCodecs),
	"delete.retention.ms":                     inertNumber(kmsg.ConfigTypeLong, "86400000", ofCompaction),
	"min.cleanable.dirty.ratio":               inertNumber(kmsg.ConfigTypeDouble, "0.5", ofCompaction),
	"min.compaction.lag.ms":                   inertNumber(kmsg.ConfigTypeLong, "0", ofCompaction),
	"max.compaction.lag.ms":                   inertNumber(kmsg.ConfigTypeLong, "9223372036854775807", ofCompaction),
	"message.downconversion.enable":           inertBool("false", "batches are served as they were sent"),
	"message.format.version":                  inertText(kmsg.ConfigTypeString, "batches are of format 2"),
	"message.timestamp.difference.max.ms":     inertNumber(kmsg.ConfigTypeLong, "9223372036854775807", ofTimes),
	"message.timestamp.before.max.ms":         inertNumber(kmsg.ConfigTypeLong, "9223372036854775807", ofTimes),
	"message.timestamp.after.max.ms":          inertNumber(kmsg.ConfigTypeLong, "9223372036854775807", ofTimes),
}

// notInEffect begins the documentation of a setting without effect.
const notInEffect = "Stored as set, but without effect here: "

// The reasons why settings are not in effect.
const (
	ofFiles      = "the store cuts and indexes its files by itself."
	ofFlushes    = "every record is on disk before it is acknowledged."
	ofCopies     = "there is one copy, on disk before it is acknowledged."
	ofCodecs     = "batches are stored as they are sent."
	ofCompaction = "records are never compacted."
	ofTimes      = "records with any timestamp are accepted."
)

func inert(kind kmsg.ConfigType, value, why string, check func(string) error) topicConfig {
	return topicConfig{kind: kind, value: value, doc: notInEffect + why, parse: func(_ *storage.TopicConfigs, v string) error { return check(v) }}
}

func inertNumber(kind kmsg.ConfigType, value, why string) topicConfig {
	return inert(kind, value, why, func(v string) (err error) {
		switch kind {
		case kmsg.ConfigTypeDouble:
			_, err = strconv.ParseFloat(v, 64)
		case kmsg.ConfigTypeInt:
			_, err = strconv.ParseInt(v, 10, 32)
		default:
			_, err = strconv.ParseInt(v, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("want a number")
		}
		return nil
	})
}

func inertBool(value, why string) topicConfig {
	return inert(kmsg.ConfigTypeBoolean, value, why, oneOf("true", "false"))
}

func inertOf(value, why string, values ...string) topicConfig {
	return inert(kmsg.ConfigTypeString, value, why, oneOf(values...))
}

func inertText(kind kmsg.ConfigType, why string) topicConfig {
	return inert(kind, "", why, func(v string) error {
		if len(v) > 1000 {
			return fmt.Errorf("%d bytes, the maximum is 1000", len(v))
		}
		return nil
	})
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("want one of %s", strings.Join(values, ", "))
		}
		return nil
	}
}
