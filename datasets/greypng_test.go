package datasets

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"testing"
)

// greyPNG is a picture of 8×8 pixels, each with a brightness and an opacity, which image/png does not write.
func greyPNG(t *testing.T, brightness, opacity byte) []byte {
	t.Helper()
	var file, packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range 8 {
		if _, err := z.Write(append([]byte{0}, bytes.Repeat([]byte{brightness, opacity}, 8)...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file.WriteString("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{
		append([]byte("IHDR"), 0, 0, 0, 8, 0, 0, 0, 8, 8, 4, 0, 0, 0),
		append([]byte("IDAT"), packed.Bytes()...),
		[]byte("IEND"),
	} {
		file.Write(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)))
		file.Write(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk)))
	}
	return file.Bytes()
}

// TestGreyPNGWithTransparency: such pictures have no colours, so the samples have one channel, and the white background
// shines through.
func TestGreyPNGWithTransparency(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/1.png", "a/2.png", "b/1.png", "b/2.png"} {
		write(t, filepath.Join(dir, name), greyPNG(t, 0, 127))
	}
	d := mustOpen(t, "folder:"+dir)
	if d.Channels != 1 || d.Height != 8 || d.Width != 8 {
		t.Fatalf("samples of %s", d.Size())
	}
	for i, v := range d.Image(&d.Train, 0) {
		if v != 128 {
			t.Fatalf("pixel %d is %d, want 128", i, v)
		}
	}
}
