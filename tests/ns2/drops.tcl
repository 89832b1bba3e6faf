# ns drops.tcl AGENT NUMBER...: one connection of 80 packets of 1000 B across 0.8 Mbit/s and 100 ms each
# way, of which the packets with these numbers, from 0, are dropped, whatever transmission they are
# (Fall and Floyd, CCR 26(3), 1996). AGENT is "" (Tahoe), /Reno, /Newreno or /Sack1.
# Prints completion time, RTOs, retransmitted packets and packets sent; drops.json has the output of ns-2.35.
set ns [new Simulator]
set agent [lindex $argv 0]
Agent/TCP set window_ 28
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 1.0
Agent/TCP set packetSize_ 1000
Agent/TCP set singledup_ 0
Agent/TCP set useHeaders_ true
Agent/TCP set syn_ false
set s [$ns node]
set r [$ns node]
set k [$ns node]
$ns duplex-link $s $r 8Mb 0.1ms DropTail
$ns duplex-link $r $k 0.8Mb 100ms DropTail
$ns queue-limit $r $k 1000
$ns queue-limit $s $r 1000
set losses [new ErrorModel/List]
$losses droplist [lrange $argv 1 end]
$losses drop-target [new Agent/Null]
$ns link-lossmodel $losses $r $k
set tcp [new Agent/TCP$agent]
set sink [new Agent/TCPSink[expr {$agent eq "/Sack1" ? "/Sack1" : ""}]]
$ns attach-agent $s $tcp
$ns attach-agent $k $sink
$ns connect $tcp $sink
proc result {} {
    global ns tcp
    puts "[$ns now] [$tcp set nrexmit_] [$tcp set nrexmitpack_] [$tcp set ndatapack_]"
    exit 0
}
Agent/TCP instproc done {} { result }
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$ftp produce 80"
$ns at 60 result
$ns run
