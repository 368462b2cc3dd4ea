package datasets

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Info is what is known about a set without opening it.
type Info struct {
	Name                    string   `json:"name"`
	Title                   string   `json:"title"`
	Classes                 int      `json:"classes"`
	Height, Width, Channels int      `json:"-"`
	Vector                  int      `json:"-"`                // the length of the samples if they are vectors
	Train                   int      `json:"-"`                // training samples of a user's own set; 0 if that is not known
	Image                   string   `json:"image"`            // "28×28×1", or "512" for vectors
	SHA256                  string   `json:"sha256,omitempty"` // of a user's own files, or of those that are a part of the official ones
	Source                  string   `json:"source"`
	Licence                 string   `json:"licence"`
	Cite                    string   `json:"cite"`
	Files                   []File   `json:"files"`     // what Open reads, relative to the data folder; empty for a generated set
	Downloads               []Source `json:"downloads"` // what Fetch downloads
}

// A File is one file of a set, or for Tiny ImageNet one folder of images (its path ends in "/").
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes,omitempty"`  // official size; 0 where unknown
	MD5    string `json:"md5,omitempty"`    // of the official file, as published; what is compared is a SHA-256
	SHA256 string `json:"sha256,omitempty"` // of the official file; "" where none is known
	// Samples is how many samples, images or labels, the official file or folder has; 0 if it has none. It is no part of
	// the JSON, from which the names of a grid's cells are made.
	Samples  int  `json:"-"`
	optional bool // without it the set can be opened, as a part of the official one
}

// A Source is one download.
type Source struct {
	URL     string `json:"url"`
	Bytes   int64  `json:"bytes"`    // official size
	SHA256  string `json:"sha256"`   // of the download
	SumFrom string `json:"sum_from"` // who published the checksum
	folder  string // folder of the data folder that it fills
	keep    func(member string) (path string, ok bool)
}

// DownloadBytes is the size of all downloads together.
func (i Info) DownloadBytes() int64 {
	var n int64
	for _, s := range i.Downloads {
		n += s.Bytes
	}
	return n
}

// List returns what is known about every set of the catalogue, the default one first, and then about those that were
// registered, in the order of their names.
func List() []Info {
	var list []Info
	for _, e := range known() {
		list = append(list, e.info())
	}
	return list
}

// info returns a copy of what is known about the set.
func (e *entry) info() Info {
	i := e.Info
	if i.Image = sizeOf(i.Height, i.Width, i.Channels, i.Vector); i.Height == 0 && i.Vector == 0 {
		i.Image = ""
	}
	i.Files = append([]File{}, i.Files...)
	i.Downloads = append([]Source{}, i.Downloads...)
	return i
}

// An entry is a set of the catalogue with its reader.
type entry struct {
	Info
	open func(ctx context.Context, d *Dataset, dir string, o Options) error
	// check tells whether the file at path is well-formed; nil means unknown.
	check func(ctx context.Context, path string, f File) (Status, string)
	// count counts the samples of a file; nil for sets whose files have no official number of samples.
	count counter
	// survey looks at files of the user's own, for their [Info] and SHA-256; nil for the catalogue.
	survey func(ctx context.Context, o Options) (Info, error)
}

// What several entries share.
const (
	emnistSource  = "https://www.nist.gov/itl/products-and-services/emnist-dataset"
	emnistLicence = "derived from NIST Special Database 19 (US public domain); cite Cohen et al. 2017"
	emnistCite    = "G. Cohen, S. Afshar, J. Tapson, A. van Schaik. EMNIST: an extension of MNIST to handwritten letters. arXiv:1702.05373, 2017"
	mnistSource   = "http://yann.lecun.com/exdb/mnist/ (mirror: ossci-datasets)"
	mnistLicence  = "free for research; cite LeCun et al. 1998"
	mnistCite     = "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-based learning applied to document recognition. Proceedings of the IEEE 86(11), 1998"
	cifarSource   = "https://www.cs.toronto.edu/~kriz/cifar.html"
	cifarLicence  = "research use; cite Krizhevsky 2009"
	cifarCite     = "A. Krizhevsky. Learning multiple layers of features from tiny images. Technical report, University of Toronto, 2009"
	sumsFrom      = "the checksums of TensorFlow Datasets"
	tinySource    = "https://cs231n.stanford.edu/tiny-imagenet-200.zip"
	tinyLicence   = "ImageNet terms: non-commercial research and education"
	tinyCite      = "Y. Le, X. Yang. Tiny ImageNet visual recognition challenge. Stanford CS 231N, 2015"
)

// Numbers of samples of the official files.
const (
	emnistTrainSamples, emnistTestSamples = 697932, 116323
	mnistTrainSamples, mnistTestSamples   = 60000, 10000
	cifarTrainSamples, cifarTestSamples   = 50000, 10000
	cifar10BatchSamples                   = 10000
	tinyTrainSamples, tinyTestSamples     = 500 * tinyClasses, 50 * tinyClasses
)

var (
	emnistTest = []File{
		{Path: "emnist/emnist-byclass-test-images-idx3-ubyte.gz", Bytes: 28908322, SHA256: "5ec835bd5d5b1a66378a132e727fef20fe994b3cc666899befcca5ac766f50cd", Samples: emnistTestSamples},
		{Path: "emnist/emnist-byclass-test-labels-idx1-ubyte.gz", Bytes: 81839, SHA256: "501e305eeeacb093b162592d80e8a2632040872360fa6d85cfcb2200d91ca92a", Samples: emnistTestSamples},
	}
	emnistTrain = []File{
		{Path: "emnist/emnist-byclass-train-images-idx3-ubyte.gz", Samples: emnistTrainSamples},
		{Path: "emnist/emnist-byclass-train-labels-idx1-ubyte.gz", Samples: emnistTrainSamples},
	}
	emnistDownload = []Source{{URL: "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip", Bytes: 561753746, SHA256: "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
		SumFrom: sumsFrom + "; NIST publishes none", folder: "emnist", keep: keepEMNIST}}

	mnistTest = []File{
		{Path: "mnist/t10k-images-idx3-ubyte.gz", Bytes: 1648877, MD5: "9fb629c4189551a2d022fa330f9573f3", Samples: mnistTestSamples},
		{Path: "mnist/t10k-labels-idx1-ubyte.gz", Bytes: 4542, MD5: "ec29112dd5afa0611ce80d1b7f02629c", Samples: mnistTestSamples},
	}
	mnistTrain = []File{
		{Path: "mnist/train-images-idx3-ubyte.gz", Bytes: 9912422, MD5: "f68b3c2dcbeaaa9fbdd348bbdeb94873", Samples: mnistTrainSamples},
		{Path: "mnist/train-labels-idx1-ubyte.gz", Bytes: 28881, MD5: "d53e105ee54ea40749a09fcbcd1e9432", Samples: mnistTrainSamples},
	}

	tinyFiles = []File{
		{Path: tinyFolder + "/wnids.txt"},
		{Path: tinyFolder + "/words.txt"},
		{Path: tinyFolder + "/val/val_annotations.txt"},
		{Path: tinyFolder + "/val/images/", Samples: tinyTestSamples},
		{Path: tinyFolder + "/train/", Samples: tinyTrainSamples},
	}
	tinyDownload = []Source{{URL: tinySource, Bytes: 248100043, SHA256: "6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821",
		SumFrom: "public projects that agree on it; Stanford publishes none", folder: tinyFolder, keep: keepTiny}}
)

// fileSums are the SHA-256 of the files that have an MD5 in the catalogue, from which the names of a grid's cells are
// made.
var fileSums = map[string]string{
	"mnist/train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
	"mnist/train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
	"mnist/t10k-images-idx3-ubyte.gz":  "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
	"mnist/t10k-labels-idx1-ubyte.gz":  "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
	"cifar-100-binary/train.bin":       "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
	"cifar-100-binary/test.bin":        "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
}

// sum is the SHA-256 of the official file, if one is known.
func (f File) sum() string { return cmp.Or(f.SHA256, fileSums[f.Path]) }

// mnistDownloads are the files themselves.
func mnistDownloads(files []File) []Source {
	var s []Source
	for _, f := range files {
		s = append(s, Source{URL: "https://ossci-datasets.s3.amazonaws.com/" + f.Path, Bytes: f.Bytes, SHA256: f.sum(),
			SumFrom: sumsFrom + "; the authors publish none", folder: "mnist"})
	}
	return s
}

var catalog = []entry{
	{Info: Info{Name: "glyphs", Title: "Glyphs", Classes: 62, Height: 28, Width: 28, Channels: 1,
		Source:  "generated by package glyphs from the Go and Liberation fonts",
		Licence: "Apache-2.0 (fonts: BSD-3-Clause and SIL OFL 1.1)", Cite: "this module"},
		open: openGlyphs},
	{Info: Info{Name: "glyphs-tune", Title: "Glyphs for tuning", Classes: 62, Height: 28, Width: 28, Channels: 1,
		Source:  "generated by package glyphs from the Go and Liberation fonts, with other draws and weaker distortions than glyphs",
		Licence: "Apache-2.0 (fonts: BSD-3-Clause and SIL OFL 1.1)", Cite: "this module"},
		open: openTuningGlyphs},
	{Info: Info{Name: "emnist-byclass", Title: "EMNIST ByClass", Classes: 62, Height: 28, Width: 28, Channels: 1,
		Source: emnistSource, Licence: emnistLicence, Cite: emnistCite,
		Files: slices.Concat(emnistTrain, emnistTest), Downloads: emnistDownload},
		open: openEMNIST, check: checkIDXFile, count: countIDX},
	{Info: Info{Name: "emnist-byclass-test80", Title: "EMNIST ByClass (official test file split 80/20)", Classes: 62, Height: 28, Width: 28, Channels: 1,
		Source: emnistSource, Licence: emnistLicence, Cite: emnistCite,
		Files: emnistTest, Downloads: emnistDownload},
		open: openEMNISTTest80, check: checkIDXFile, count: countIDX},
	{Info: Info{Name: "mnist", Title: "MNIST", Classes: 10, Height: 28, Width: 28, Channels: 1,
		Source: mnistSource, Licence: mnistLicence, Cite: mnistCite,
		Files: slices.Concat(mnistTrain, mnistTest), Downloads: mnistDownloads(slices.Concat(mnistTrain, mnistTest))},
		open: openMNIST, check: checkIDXFile, count: countIDX},
	{Info: Info{Name: "mnist-test80", Title: "MNIST (official test file split 80/20)", Classes: 10, Height: 28, Width: 28, Channels: 1,
		Source: mnistSource, Licence: mnistLicence, Cite: mnistCite,
		Files: mnistTest, Downloads: mnistDownloads(mnistTest)},
		open: openMNISTTest80, check: checkIDXFile, count: countIDX},
	{Info: Info{Name: "cifar-10", Title: "CIFAR-10", Classes: 10, Height: 32, Width: 32, Channels: 3,
		Source: cifarSource, Licence: cifarLicence, Cite: cifarCite,
		Files: []File{
			{Path: "cifar-10-batches-bin/data_batch_1.bin", Bytes: 30730000, Samples: cifar10BatchSamples},
			{Path: "cifar-10-batches-bin/data_batch_2.bin", Bytes: 30730000, Samples: cifar10BatchSamples, optional: true},
			{Path: "cifar-10-batches-bin/data_batch_3.bin", Bytes: 30730000, Samples: cifar10BatchSamples, optional: true},
			{Path: "cifar-10-batches-bin/data_batch_4.bin", Bytes: 30730000, Samples: cifar10BatchSamples, optional: true},
			{Path: "cifar-10-batches-bin/data_batch_5.bin", Bytes: 30730000, Samples: cifar10BatchSamples, optional: true},
			{Path: "cifar-10-batches-bin/test_batch.bin", Bytes: 30730000, Samples: cifar10BatchSamples},
			{Path: "cifar-10-batches-bin/batches.meta.txt"},
		},
		Downloads: []Source{{URL: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", Bytes: 170052171, SHA256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
			SumFrom: sumsFrom, folder: "cifar-10-batches-bin", keep: keepUnder("cifar-10-batches-bin")}}},
		open: openCIFAR10, check: checkCIFAR10File, count: countCIFAR10},
	{Info: Info{Name: "cifar-100", Title: "CIFAR-100", Classes: 100, Height: 32, Width: 32, Channels: 3,
		Source: cifarSource, Licence: cifarLicence, Cite: cifarCite,
		Files: []File{
			{Path: "cifar-100-binary/train.bin", Bytes: 153700000, MD5: "6172c7755cfe09b2fe270c85cebc1b15", Samples: cifarTrainSamples},
			{Path: "cifar-100-binary/test.bin", Bytes: 30740000, MD5: "4499cfba6c016c1be1438163640a0898", Samples: cifarTestSamples},
			{Path: "cifar-100-binary/fine_label_names.txt"},
		},
		Downloads: []Source{{URL: "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", Bytes: 168513733, SHA256: "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
			SumFrom: sumsFrom, folder: "cifar-100-binary", keep: keepUnder("cifar-100-binary")}}},
		open: openCIFAR100, check: checkCIFAR100File, count: countCIFAR100},
	{Info: Info{Name: "tiny-imagenet", Title: "Tiny ImageNet", Classes: 200, Height: 64, Width: 64, Channels: 3,
		Source: tinySource, Licence: tinyLicence, Cite: tinyCite, Files: tinyFiles, Downloads: tinyDownload},
		open: openTinyImageNet, check: checkTinyFile, count: countTiny},
	{Info: Info{Name: "tiny-imagenet-32", Title: "Tiny ImageNet (at half the resolution)", Classes: 200, Height: 32, Width: 32, Channels: 3,
		Source: tinySource, Licence: tinyLicence, Cite: tinyCite, Files: tinyFiles, Downloads: tinyDownload},
		open: openTinyImageNet32, check: checkTinyFile, count: countTiny},
}

// keepUnder takes everything in one top folder, relative to it.
func keepUnder(folder string) func(string) (string, bool) {
	return func(member string) (string, bool) { return strings.CutPrefix(member, folder+"/") }
}
